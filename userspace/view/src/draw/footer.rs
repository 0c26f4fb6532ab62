//! The last line: what is typed, a note, or the keys that matter now.

use super::pen::{Pen, piece};
use crate::format;
use crate::header::Motion;
use crate::keys::Action;
use crate::theme::Tone;
use crate::view::{Layer, View};
use ratatui::layout::Rect;

pub(super) fn draw(view: &View, area: Rect, pen: &mut Pen<'_>) {
    if let Layer::Filter(text, wrong) = &view.layer {
        // The end of a long text is where the typing happens.
        let room = usize::from(area.width).saturating_sub(12);
        let seen = text.chars().rev().take(room).collect::<Vec<_>>();
        let seen: String = seen.into_iter().rev().collect();
        let x = pen.text(area.x + 1, area.y, "filter /", area.width, Tone::Focus);
        let x = pen.text(x, area.y, &seen, area.width, Tone::Text);
        pen.text(x, area.y, " ", 1, Tone::Chosen);
        if let Some(wrong) = wrong {
            let wrong = format::fit(wrong, usize::from(area.right().saturating_sub(x + 3)));
            pen.text(x + 2, area.y, &wrong, area.width, Tone::Bad);
        }
        return;
    }
    if let Some(note) = &view.note {
        let note = format::fit(note, usize::from(area.width) - 2);
        pen.text(area.x + 1, area.y, &note, area.width - 1, Tone::Notice);
        return;
    }
    let hints: &[(Action, &str)] = match view.layer {
        Layer::Sort(_) => &[
            (Action::Down, "down"),
            (Action::Up, "up"),
            (Action::Detail, "sort"),
            (Action::Back, "close"),
        ],
        Layer::Help(_) | Layer::Detail(_) => &[
            (Action::Down, "down"),
            (Action::Up, "up"),
            (Action::Back, "close"),
        ],
        _ => &[
            (Action::Quit, "quit"),
            (Action::Help, "help"),
            (Action::Detail, "detail"),
            (Action::Filter, "filter"),
            (Action::Sort, "sort"),
            (Action::Reverse, "reverse"),
            (Action::Freeze, "freeze"),
            (Action::Pause, "pause"),
            (Action::Earlier, "back"),
            (Action::Later, "on"),
            (Action::Units, "units"),
            (Action::Longer, "longer"),
            (Action::NextPane, "pane"),
            (Action::Zoom, "zoom"),
        ],
    };
    let mut matters = u8::MAX;
    let mut pieces = Vec::new();
    if !view.filter.is_empty() {
        let text = format!("/{}", format::fit(&view.filter, 30));
        pieces.push(piece(text, Tone::Notice, u8::MAX));
    }
    for (action, says) in hints {
        // A live source cannot be paused, and nothing is left to pause at the end.
        let live = matches!(view.header.motion, Motion::Live | Motion::Ended);
        let Some(key) = view.options.keys.of(*action).next() else {
            continue;
        };
        if *action == Action::Pause && live {
            continue;
        }
        matters -= 1;
        pieces.push(piece(format!("{key} {says}"), Tone::Faint, matters));
    }
    pen.line(area, pieces, Vec::new());
}
