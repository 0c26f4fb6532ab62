//! One flow's rate: settled, or moving in one direction.

use super::{Event, Kind, Thresholds};
use crate::FlowHash;

/// A step continues a move when it makes this share of the thresholds. A change that falls inside
/// a window shows as two steps, one of which makes at least half of it: neither is overlooked.
const STEP_SHARE: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
pub(super) struct Movement {
    /// The rate in the window under way; 0 until somebody says otherwise.
    pub(super) current_bps: u64,
    /// The rate in the window before.
    last_bps: u64,
    last_window: u64,
    moving: Option<Move>,
    /// The last window with a rate above 0.
    heard: u64,
}

/// Steps in one direction.
#[derive(Debug, Clone, Copy)]
struct Move {
    from_bps: u64,
    window: u64,
    upwards: bool,
    /// From a flow's first window: its rate before is not 0 but unknown.
    first: bool,
}

impl Movement {
    /// A flow met in `window` for the first time, on its way up from nothing.
    pub(super) fn begun(window: u64, bps: u64) -> Self {
        let first = Move {
            from_bps: 0,
            window,
            upwards: true,
            first: true,
        };
        Self {
            current_bps: bps,
            last_bps: 0,
            last_window: window,
            moving: Some(first),
            heard: window,
        }
    }

    /// Closes `window` with [`current_bps`](Self::current_bps), and gives the change that ended
    /// with the window before.
    pub(super) fn step(
        &mut self,
        flow: FlowHash,
        window: u64,
        thresholds: &Thresholds,
    ) -> Option<Event> {
        let (from, to) = (self.last_bps, self.current_bps);
        let upwards = to > from;
        let goes_on = thresholds.passed(from, to, STEP_SHARE);
        let continues = |m: &Move| goes_on && m.upwards == upwards;
        let begins = self.moving.is_some_and(|m| m.first && m.window == window);
        let mut change = None;
        if !begins && !self.moving.as_ref().is_some_and(continues) {
            change = self.end(flow, thresholds);
            self.moving = goes_on.then_some(Move {
                from_bps: from,
                window,
                upwards,
                first: false,
            });
        }
        if to > 0 {
            self.heard = window;
        }
        (self.last_bps, self.last_window, self.current_bps) = (to, window, 0);
        change
    }

    /// Ends the move under way at the last closed window.
    pub(super) fn end(&mut self, flow: FlowHash, thresholds: &Thresholds) -> Option<Event> {
        let ended = self.moving.take()?;
        let (from, to) = (ended.from_bps, self.last_bps);
        let kind = match (ended.first, to, self.current_bps) {
            (true, ..) => Kind::Start,
            (false, 0, 0) => Kind::Stop,
            _ => Kind::Jitter,
        };
        let counts = match kind {
            Kind::Start => to >= thresholds.elephant_bps,
            _ => thresholds.elephant(from, to) && thresholds.passed(from, to, 1.0),
        };
        counts.then_some(Event {
            flow,
            window: ended.window,
            settled: self.last_window,
            from_bps: from,
            to_bps: to,
            kind,
        })
    }

    /// Settled at 0, and nothing heard for more than `windows` windows.
    pub(super) fn quiet_for(&self, window: u64, windows: u64) -> bool {
        self.moving.is_none() && self.last_bps == 0 && window - self.heard > windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracked_flow_takes_64_bytes() {
        assert_eq!(size_of::<(FlowHash, Movement)>(), 64);
    }
}
