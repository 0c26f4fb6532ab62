//! A page over the tables: a frame, a heading, lines that scroll.

use super::pen::Pen;
use crate::theme::Tone;
use ratatui::layout::Rect;

/// Lines of the frame and the margin at each side.
const FRAME: u16 = 1;

/// The area of a page of `lines` lines, in the middle of the screen.
pub(super) fn place(screen: Rect, width: u16, lines: usize) -> Rect {
    let width = width.min(screen.width.saturating_sub(4));
    let max = screen.height.saturating_sub(2);
    let height = u16::try_from(lines).unwrap_or(max).saturating_add(2 * FRAME).min(max);
    let x = screen.x + (screen.width - width) / 2;
    Rect::new(x, screen.y + (screen.height - 1 - height) / 2, width, height)
}

/// The cells within the frame.
pub(super) const fn inside(page: Rect) -> Rect {
    let (width, height) = (page.width.saturating_sub(4), page.height.saturating_sub(2 * FRAME));
    Rect::new(page.x + 2, page.y + FRAME, width, height)
}

/// Draws an empty page; `first` of `lines` lines is the first visible one.
pub(super) fn frame(page: Rect, heading: &str, first: usize, lines: usize, pen: &mut Pen<'_>) {
    pen.clear(page);
    let (x, right) = (page.x, page.right() - 1);
    let rule = "─".repeat(usize::from(page.width.saturating_sub(2)));
    for (y, corners) in [(page.y, ["╭", "╮"]), (page.bottom() - 1, ["╰", "╯"])] {
        pen.text(x + 1, y, &rule, page.width - 2, Tone::Faint);
        pen.text(x, y, corners[0], 1, Tone::Faint);
        pen.text(right, y, corners[1], 1, Tone::Faint);
    }
    for y in page.y + 1..page.bottom() - 1 {
        pen.text(x, y, "│", 1, Tone::Faint);
        pen.text(right, y, "│", 1, Tone::Faint);
    }
    let heading = format!(" {heading} ");
    pen.text(x + 2, page.y, &heading, page.width - 4, Tone::Focus);
    let seen = usize::from(inside(page).height);
    if lines > seen {
        let last = (first + seen).min(lines);
        let text = format!(" {} to {last} of {lines} ", first + 1);
        let at = right.saturating_sub(text.len() as u16 + 1);
        pen.text(at, page.bottom() - 1, &text, page.width, Tone::Faint);
    }
}
