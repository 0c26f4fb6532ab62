//! The ports of hosts: marks, colours of states, and the header.

use super::pen::{Pen, Piece, piece};
use crate::theme::Tone;
use rocescope_model::HostPortRow;
use rocescope_model::human::grouped;

/// The share of time above which pause is marked.
const PAUSE: f64 = 0.01;

/// The state of ports that work.
const WORKS: &str = "ACTIVE";

/// `!`: an error was read in the window; `+`: in the last minute; `P`: paused, or pauses its link partner; `C`:
/// congestion; `v`: the `PCIe` link is below what the device supports.
pub(super) fn flags(port: &HostPortRow, (x, y): (u16, u16), pen: &mut Pen<'_>) {
    let is_above = |value: Option<f64>, bound: f64| value.is_some_and(|value| value > bound);
    let error = match (port.new_errors, port.errors) {
        (0, 0) => None,
        (0, _) => Some(("+", Tone::Notice)),
        _ => Some(("!", Tone::Bad)),
    };
    let notice = |is: bool, mark: &'static str| is.then_some((mark, Tone::Notice));
    let marks = [
        error,
        notice(
            is_above(port.paused_ratio, PAUSE) || is_above(port.pausing_ratio, PAUSE),
            "P",
        ),
        notice(
            is_above(port.cnp_sent_pps, 0.0)
                || is_above(port.cnp_handled_pps, 0.0)
                || is_above(port.ecn_marked_pps, 0.0),
            "C",
        ),
        notice(port.pcie.as_deref().is_some_and(|pcie| pcie.contains(" of ")), "v"),
    ];
    for (mark, x) in marks.into_iter().zip(x..) {
        let (text, tone) = mark.unwrap_or(("·", Tone::Faint));
        pen.text(x, y, text, 1, tone);
    }
}

/// The colour of the state of a port.
pub(super) fn tone(state: &str) -> Tone {
    if state == WORKS { Tone::Good } else { Tone::Bad }
}

/// The ports in a line.
pub(super) fn summary(ports: &[HostPortRow]) -> Vec<Piece> {
    let count = |is: &dyn Fn(&HostPortRow) -> bool| ports.iter().filter(|port| is(port)).count() as u64;
    let all = count(&|port| port.state.is_some());
    let down = count(&|port| port.state.as_deref().is_some_and(|state| state != WORKS));
    let failing = count(&|port| port.errors > 0);
    let tone = |number: u64| if number > 0 { Tone::Bad } else { Tone::Faint };
    vec![
        piece(format!("{} ports", grouped(all)), Tone::Heading, 9),
        piece(format!("{} not active", grouped(down)), tone(down), 8),
        piece(
            format!("{} with errors in the last minute", grouped(failing)),
            tone(failing),
            8,
        ),
    ]
}
