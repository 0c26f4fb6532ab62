//! The help page: keys, and what the marks on the screen mean.

use super::overlay;
use super::pen::Pen;
use crate::keys::Action;
use crate::theme::Tone;
use crate::view::View;
use ratatui::layout::Rect;

const WIDTH: u16 = 76;
const KEYS: u16 = 18;
/// Cells of an explanation.
const EXPLANATION: usize = 54;

/// What the marks and characters mean.
const LEGEND: [(&str, &str); 15] = [
    (
        "E J C ~",
        "Elephant; sudden change; congestion experienced (CE); sizes are upper bounds.",
    ),
    (
        "≤",
        "An upper bound: the true value may be lower, by at most the error column.",
    ),
    (
        "· in a trend",
        "No packets. A blank: unknown, the window has no row for the flow.",
    ),
    ("+1 s", "Length of the window shown; + merges several windows."),
    (
        "flows ± / ≥",
        "Standard error of an estimate; lower bound over several windows.",
    ),
    (
        "fabric loss",
        "Packets that the network dropped, in all windows so far.",
    ),
    (
        "capture loss",
        "Frames that reached this host and were not counted: ring, interface, socket.",
    ),
    ("mirror loss", "Packets that the mirror did not deliver."),
    ("loss ?", "Unknown: nothing measures it."),
    ("CPU, RSS", "What this program uses: 100 % is one core."),
    (
        "! in the mesh",
        "More than 10 % dropped, or ten times the median of all pairs.",
    ),
    ("+ in the mesh", "Some dropped, or twice the median of all pairs."),
    (
        "! + of a port",
        "Errors or discards grew in this window; in the last minute.",
    ),
    (
        "P C of a port",
        "Pauses or is paused for more than 1 % of the time; ECN marks or CNPs.",
    ),
    ("v of a port", "Its PCIe link is slower than the device supports."),
];

fn lines(view: &View) -> Vec<(String, String)> {
    let keys = |action: &Action| {
        let keys: Vec<String> = view.options.keys.of(*action).map(|k| k.to_string()).collect();
        keys.join(" ")
    };
    let mut lines: Vec<(String, String)> = Action::ALL
        .iter()
        .map(|action| (keys(action), action.help().to_owned()))
        .collect();
    lines.push(Default::default());
    for (mark, text) in LEGEND {
        for (at, line) in rocescope_model::human::wrap(text, EXPLANATION).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { "" };
            lines.push((mark.into(), line));
        }
    }
    lines
}

/// The last line that the page scrolls to.
pub(crate) fn max_scroll(view: &View) -> usize {
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
    for ((key, text), y) in lines.iter().skip(first).zip(inside.y..inside.bottom()) {
        pen.text(inside.x, y, key, KEYS - 1, Tone::Focus);
        pen.text(inside.x + KEYS, y, text, inside.width - KEYS, Tone::Text);
    }
}
