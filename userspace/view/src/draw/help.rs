//! Keys and marks.

use super::overlay;
use super::pen::Pen;
use crate::keys::Action;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;

const WIDTH: u16 = 76;
const KEYS: u16 = 18;
/// Cells of an explanation.
const SAYS: usize = 54;

/// What the marks and characters stand for.
const LEGEND: [(&str, &str); 9] = [
    (
        "E J C ~",
        "Elephant; sudden change; congestion experienced (CE); sizes are upper bounds.",
    ),
    (
        "≤",
        "The truth may be less, by at most the column of errors.",
    ),
    (
        "· in a trend",
        "No packets. A blank: not among the rows of that window, so unknown.",
    ),
    (
        "+1 s",
        "Length of the window shown: several merged where it was made longer.",
    ),
    (
        "flows ± / ≥",
        "Standard error of an estimate; at least so many in several windows.",
    ),
    (
        "mirror ?",
        "Whether the mirror port lost frames is not worked out.",
    ),
    ("CPU, RSS", "What this program takes: 100 % is one core."),
    (
        "! in the mesh",
        "More than 10 % dropped, or ten times what half of the pairs take.",
    ),
    (
        "+ in the mesh",
        "Something dropped, or twice what half of the pairs take.",
    ),
];

fn lines(view: &View) -> Vec<(String, String)> {
    let keys = |action: &Action| {
        let keys: Vec<String> = view
            .options
            .keys
            .of(*action)
            .map(|k| k.to_string())
            .collect();
        keys.join(" ")
    };
    let mut lines: Vec<(String, String)> = Action::ALL
        .iter()
        .map(|action| (keys(action), action.help().to_owned()))
        .collect();
    lines.push(Default::default());
    for (mark, says) in LEGEND {
        for (at, says) in overlay::wrap(says, SAYS).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { "" };
            lines.push((mark.into(), says));
        }
    }
    lines
}

/// How far the page scrolls.
pub(crate) fn most_scroll(view: &View) -> usize {
    let lines = lines(view).len();
    let screen = Rect::new(0, 0, view.size.0, view.size.1);
    let page = overlay::place(screen, WIDTH, lines);
    lines.saturating_sub(overlay::inside(page).height.into())
}

pub(super) fn draw(view: &View, screen: Rect, scroll: usize, pen: &mut Pen<'_>) {
    let lines = lines(view);
    let page = overlay::place(screen, WIDTH, lines.len());
    let inside = overlay::inside(page);
    let first = scroll.min(lines.len().saturating_sub(inside.height.into()));
    overlay::frame(page, "Keys", first, lines.len(), pen);
    for ((key, says), y) in lines.iter().skip(first).zip(inside.y..inside.bottom()) {
        pen.text(inside.x, y, key, KEYS - 1, Tone::Focus);
        pen.text(inside.x + KEYS, y, says, inside.width - KEYS, Tone::Text);
    }
}
