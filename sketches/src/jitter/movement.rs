//! One flow's rate: settled, or moving in one direction.

use super::change::{ChangeKind, Event, Thresholds};
use crate::hash::FlowHash;

/// A step of at least this share of the thresholds begins or continues a move. A change within a window shows as two
/// steps, one of which reaches at least half of it.
const STEP_SHARE: f64 = 0.5;
/// A single step in the same direction, just before or after a move, belongs to it from this share on. Below, it is the
/// noise of a steady rate, which would only shift the time of the change.
const EDGE_SHARE: f64 = 0.05;

#[derive(Debug, Clone, Copy)]
pub(super) struct Movement {
    /// The rate in the current window; 0 until it is set.
    pub(super) current_bps: u64,
    /// The rate in the window before.
    last_bps: u64,
    /// The rate before that, if the step between both belongs to no move and could be the edge of one; otherwise the
    /// same rate.
    before_bps: u64,
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
    /// Its edge has arrived: it ends with the next window.
    ends: bool,
}

impl Movement {
    /// A new flow in `window`, rising from 0.
    pub(super) fn begun(window: u64, bps: u64) -> Self {
        let first = Move {
            from_bps: 0,
            window,
            upwards: true,
            first: true,
            ends: false,
        };
        Self {
            current_bps: bps,
            last_bps: 0,
            before_bps: 0,
            last_window: window,
            moving: Some(first),
            heard: window,
        }
    }

    /// Closes `window` with [`current_bps`](Self::current_bps), and returns the change that ended with the window
    /// before.
    pub(super) fn step(&mut self, flow: FlowHash, window: u64, thresholds: &Thresholds) -> Option<Event> {
        let (from, to) = (self.last_bps, self.current_bps);
        let upwards = to > from;
        let goes_on = thresholds.passed(from, to, STEP_SHARE);
        let is_edge = !goes_on && thresholds.passed(from, to, EDGE_SHARE);
        let mut change = None;
        match &mut self.moving {
            Some(begun) if begun.first && begun.window == window => {}
            Some(under_way) if !under_way.ends && under_way.upwards == upwards && goes_on => {}
            Some(under_way) if !under_way.ends && under_way.upwards == upwards && is_edge => {
                under_way.ends = true;
            }
            _ => {
                change = self.end(flow, thresholds);
                self.moving = goes_on.then(|| self.beginning(window, upwards));
            }
        }
        if to > 0 {
            self.heard = window;
        }
        self.before_bps = if self.moving.is_none() && is_edge { from } else { to };
        (self.last_bps, self.last_window, self.current_bps) = (to, window, 0);
        change
    }

    /// A move whose first large step ends in `window`, and the edge before it.
    fn beginning(&self, window: u64, upwards: bool) -> Move {
        let (before, last) = (self.before_bps, self.last_bps);
        let has_edge = before != last && (last > before) == upwards;
        let (from_bps, window) = if has_edge {
            (before, self.last_window)
        } else {
            (last, window)
        };
        Move {
            from_bps,
            window,
            upwards,
            first: false,
            ends: false,
        }
    }

    /// Ends the current move at the last closed window.
    pub(super) fn end(&mut self, flow: FlowHash, thresholds: &Thresholds) -> Option<Event> {
        let ended = self.moving.take()?;
        let (from, to) = (ended.from_bps, self.last_bps);
        let kind = match (ended.first, to, self.current_bps) {
            (true, ..) => ChangeKind::Start,
            (false, 0, 0) => ChangeKind::Stop,
            _ => ChangeKind::Jitter,
        };
        let counts = match kind {
            ChangeKind::Start => to >= thresholds.elephant_bps,
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

    /// Settled at 0, without a rate for more than `windows` windows.
    pub(super) fn quiet_for(&self, window: u64, windows: u64) -> bool {
        self.moving.is_none() && self.last_bps == 0 && window - self.heard > windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracked_flow_takes_72_bytes() {
        assert_eq!(size_of::<(FlowHash, Movement)>(), 72);
    }
}
