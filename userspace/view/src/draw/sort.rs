//! The list of columns to sort by, also those that are not on the screen.

use super::overlay;
use super::pen::Pen;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;

const WIDTH: u16 = 76;
const NAME: u16 = 26;

pub(super) fn draw(view: &View, screen: Rect, chosen: usize, pen: &mut Pen<'_>) {
    let table = view.focus().table();
    let lines = table.columns.len();
    let page = overlay::place(screen, WIDTH, lines);
    let inside = overlay::inside(page);
    let height = usize::from(inside.height);
    let first = (chosen + 1)
        .saturating_sub(height - height.min(3))
        .min(lines.saturating_sub(height));
    let heading = format!("Sort {} by", table.name);
    overlay::frame(page, &heading, first, lines, pen);
    let sorted = view.listing(view.focus()).sort;
    let columns = table.columns.iter().enumerate().skip(first);
    for ((at, column), y) in columns.zip(inside.y..inside.bottom()) {
        let tone = if at == sorted { Tone::Focus } else { Tone::Text };
        pen.text(inside.x, y, column.name, NAME - 1, tone);
        let width = inside.width - NAME;
        pen.text(inside.x + NAME, y, column.help, width, Tone::Faint);
        if at == chosen {
            pen.paint(Rect::new(inside.x, y, inside.width, 1), Tone::Chosen);
        }
    }
}
