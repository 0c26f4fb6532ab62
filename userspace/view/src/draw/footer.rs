//! The last line: the filter as it is typed, a note, or the keys that apply.

use super::pen::{Pen, piece};
use crate::format;
use crate::header::Motion;
use crate::keys::Action;
use crate::pane::Pane;
use crate::theme::Tone;
use crate::view::{Layer, View};
use ratatui::layout::Rect;

pub(super) fn draw(view: &View, area: Rect, pen: &mut Pen<'_>) {
    if let Layer::Filter(text, wrong) = &view.layer {
        let x = pen.text(area.x + 1, area.y, "filter /", area.width, Tone::Focus);
        // Typing happens at the end: that end of a long text is shown.
        let length = text.chars().count();
        let room = usize::from(area.width) * 2 / 3;
        let hidden = length.saturating_sub(room);
        let seen: String = text.chars().skip(hidden).collect();
        let end = pen.text(x, area.y, &seen, area.width, Tone::Text);
        pen.text(end, area.y, " ", 1, Tone::Chosen);
        if let Some(wrong) = wrong {
            // Positions count bytes of the trimmed text.
            let trimmed = text.trim_start();
            let blanks = length - trimmed.chars().count();
            let at = |byte: usize| blanks + trimmed.get(..byte).unwrap_or(trimmed).chars().count();
            let (from, to) = (at(wrong.place.from), at(wrong.place.to));
            for (place, character) in text.chars().enumerate() {
                if (from..to).contains(&place) && place >= hidden {
                    let x = x + (place - hidden) as u16;
                    pen.text(x, area.y, &character.to_string(), 1, Tone::Bad);
                }
            }
            let room = usize::from(area.right().saturating_sub(end + 3));
            let message = format::fit(&wrong.message, room);
            pen.text(end + 2, area.y, &message, area.width, Tone::Bad);
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
        Layer::Help(_) | Layer::Detail(_) => &[(Action::Down, "down"), (Action::Up, "up"), (Action::Back, "close")],
        _ if view.focus() == Pane::Mesh => &[
            (Action::Quit, "quit"),
            (Action::Help, "help"),
            (Action::SortNext, "metric"),
            (Action::NextTarget, "right"),
            (Action::PreviousTarget, "left"),
            (Action::Top, "worst"),
            (Action::Detail, "detail"),
            (Action::Earlier, "back"),
            (Action::Later, "forward"),
            (Action::Filter, "filter"),
            (Action::Pause, "pause"),
            (Action::NextPane, "pane"),
        ],
        _ => &[
            (Action::Quit, "quit"),
            (Action::Help, "help"),
            (Action::Detail, "detail"),
            (Action::Filter, "filter"),
            (Action::Sort, "sort"),
            (Action::Reverse, "reverse"),
            (Action::GroupBy, "by"),
            (Action::Freeze, "freeze"),
            (Action::Pause, "pause"),
            (Action::Earlier, "back"),
            (Action::Later, "forward"),
            (Action::Units, "units"),
            (Action::Longer, "longer"),
            (Action::NextPane, "pane"),
            (Action::Zoom, "zoom"),
        ],
    };
    let mut priority = u8::MAX;
    let mut pieces = Vec::new();
    if !view.filter.is_empty() {
        let text = format!("/{}", format::fit(&view.filter, 30));
        pieces.push(piece(text, Tone::Notice, u8::MAX));
    }
    for (action, name) in hints {
        // A live source and one that has ended cannot be paused.
        let live = matches!(view.header.motion, Motion::Live | Motion::Ended);
        let Some(key) = view.options.keys.of(*action).next() else {
            continue;
        };
        if *action == Action::Pause && live {
            continue;
        }
        priority -= 1;
        pieces.push(piece(format!("{key} {name}"), Tone::Faint, priority));
    }
    pen.line(area, pieces, Vec::new());
}
