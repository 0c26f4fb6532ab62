//! The verdicts about hosts: below the table, what the selected one rests on and what to do.

use super::overlay::wrap;
use super::pen::{Pen, Piece, piece};
use crate::theme::Tone;
use ratatui::layout::Rect;
use rocescope_model::HostVerdictRow;
use rocescope_model::human::{grouped, plural};

/// Cells of the names of parts.
const NAME: u16 = 12;

/// Whether the fault goes on.
pub(super) fn is_open(verdict: &HostVerdictRow) -> bool {
    &*verdict.state != "ended"
}

/// The colour of a state.
pub(super) fn tone(state: &str) -> Tone {
    if state == "ended" { Tone::Faint } else { Tone::Bad }
}

/// The faults in a line.
pub(super) fn summary(verdicts: &[HostVerdictRow]) -> Vec<Piece> {
    let open = verdicts.iter().filter(|verdict| is_open(verdict)).count() as u64;
    let ended = verdicts.len() as u64 - open;
    let tone = if open > 0 { Tone::Bad } else { Tone::Faint };
    vec![
        piece(format!("{} open", plural(open, "fault")), tone, 9),
        piece(
            format!("{} ended in the last five minutes", grouped(ended)),
            Tone::Faint,
            8,
        ),
    ]
}

/// The whole verdict, in the room that the table leaves; Enter shows it on a page.
pub(super) fn text(verdict: &HostVerdictRow, area: Rect, pen: &mut Pen<'_>) {
    let parts = [
        ("finding", &*verdict.sentence, Tone::Heading),
        ("do", &verdict.action, Tone::Text),
        ("evidence", &verdict.evidence, Tone::Text),
        ("confidence", &verdict.confidence, Tone::Text),
        ("unknown", verdict.unknown.as_deref().unwrap_or_default(), Tone::Faint),
    ];
    let width = area.width.saturating_sub(NAME + 2);
    let mut y = area.y;
    for (name, text, tone) in parts {
        for (at, line) in wrap(text, width.into()).into_iter().enumerate() {
            if y >= area.bottom() {
                return;
            }
            if at == 0 {
                pen.text(area.x + 1, y, name, NAME, Tone::Faint);
            }
            pen.text(area.x + 1 + NAME, y, &line, width, tone);
            y += 1;
        }
    }
}
