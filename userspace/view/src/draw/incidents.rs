//! Incidents: below the table, what the selected one rests on and what to do.

use super::pen::{Pen, Piece, piece};
use crate::incidents::is_open;
use crate::theme::Tone;
use ratatui::layout::Rect;
use rocescope_model::hosts::Hosts;
use rocescope_model::human::{grouped, plural, wrap};
use rocescope_model::{IncidentRow, Text};

/// Cells of the names of parts.
const NAME: u16 = 12;

/// The colour of a state.
pub(super) fn tone(state: &str) -> Tone {
    if state == "ended" { Tone::Faint } else { Tone::Bad }
}

/// The incidents in a line.
pub(super) fn summary(rows: &[IncidentRow]) -> Vec<Piece> {
    let open = rows.iter().filter(|row| is_open(row)).count() as u64;
    let ended = rows.len() as u64 - open;
    let tone = if open > 0 { Tone::Bad } else { Tone::Faint };
    vec![
        piece(format!("{} open", plural(open, "incident")), tone, 9),
        piece(
            format!("{} ended in the last five minutes", grouped(ended)),
            Tone::Faint,
            8,
        ),
    ]
}

/// The whole incident, in the room that the table leaves; Enter shows it on a page.
pub(super) fn text(row: &IncidentRow, hosts: &Hosts, area: Rect, pen: &mut Pen<'_>) {
    let some = |text: &Option<Text>| text.as_deref().unwrap_or_default().to_owned();
    let why = format!("{}: {} (seen by {})", row.certainty, row.reason, row.sources);
    let parts = [
        ("incident", row.sentence.to_string(), Tone::Heading),
        ("do", row.action.to_string(), Tone::Text),
        ("flows", some(&row.worst_victims), Tone::Text),
        ("whose", some(&row.owners), Tone::Text),
        ("why", why, Tone::Text),
        ("also", some(&row.explains), Tone::Text),
        ("unknown", some(&row.unknown), Tone::Faint),
        ("evidence", row.evidence.to_string(), Tone::Faint),
    ];
    let width = area.width.saturating_sub(NAME + 2);
    let mut y = area.y;
    for (name, text, tone) in parts.into_iter().filter(|(_, text, _)| !text.is_empty()) {
        for (at, line) in wrap(&hosts.text(&text), width.into()).into_iter().enumerate() {
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
