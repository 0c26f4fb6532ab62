//! Jitter: elephants whose rate changed from one window to the next, one event per change.
//!
//! The Fudan system compares the rates of a large flow in adjacent windows, as a difference or as a
//! share of the earlier one (§4 (3); its scenario 5.2 (3): elephants above 5 Gbit/s, 2.5 Gbit/s
//! between windows of 1 s). Literally, that rule misses changes at a window's edge: a drop from 6 to 3 Gbit/s half way
//! through a window appears as 6, 4.5, 3. It also reports a slow drop twice, and the partial first and last window of
//! every flow as a change.
//!
//! So windows are joined into *moves* (submodule `movement`): steps in one direction that each reach at least half a
//! threshold, plus at most one smaller step at either end, because a change within a window may be cut into a large
//! part and a small one. A move ends with the first window that does not continue it. Then its ends are compared with
//! the thresholds, and at most one event results. The cost is one window of delay; the benefit is the true height of
//! the change, no second event while it continues, and the difference between a change, a start and a stop.
//!
//! Rates are bits per second. Time is a window number, without a clock. A flow without a rate in a window had rate 0 in
//! it, and so did all flows in windows that were never closed.

mod change;
mod movement;

pub use change::{ChangeKind, Event, Thresholds};

use alloc::vec::Vec;

use crate::hash::FlowHash;
use movement::Movement;

/// Follows the rates of flows from window to window.
///
/// ```
/// use rocescope_sketches::{FlowHash, Jitter, jitter::{ChangeKind, Thresholds}};
///
/// let mut jitter = Jitter::new(Thresholds::FUDAN, 1000, 10);
/// let mut events = Vec::new();
/// for (window, gbps) in [6.0, 6.1, 4.5, 3.0, 3.0].into_iter().enumerate() {
///     let rates = [(FlowHash(1), (gbps * 1e9) as u64)];
///     jitter.close_window(window as u64, rates, |event| events.push(event));
/// }
/// let [start, drop] = events[..] else { panic!("{events:?}") };
/// assert_eq!((start.kind, drop.kind), (ChangeKind::Start, ChangeKind::Jitter));
/// assert_eq!((drop.window, drop.settled), (2, 3));
/// assert_eq!((drop.from_bps, drop.to_bps), (6_100_000_000, 3_000_000_000));
/// ```
#[derive(Debug, Clone)]
pub struct Jitter {
    thresholds: Thresholds,
    /// Sorted by flow between calls; new flows wait at the end in between.
    flows: Vec<(FlowHash, Movement)>,
    capacity: usize,
    forget_after: u64,
    /// The next window.
    next: Option<u64>,
    refused: u64,
}

impl Jitter {
    /// Tracks up to `capacity` flows (72 bytes each), elephants or not; a flow is forgotten after `forget_after`
    /// windows at rate 0.
    #[must_use]
    pub fn new(thresholds: Thresholds, capacity: usize, forget_after: u64) -> Self {
        let flows = Vec::with_capacity(capacity);
        Self {
            thresholds,
            flows,
            capacity,
            forget_after,
            next: None,
            refused: 0,
        }
    }

    /// Changes the thresholds, from the next window on.
    pub const fn set_thresholds(&mut self, thresholds: Thresholds) {
        self.thresholds = thresholds;
    }

    /// Processes the rates of a window, in bits per second, at most one per flow, and calls `emit` with every change
    /// that it completes. Windows must be in ascending order; an earlier one is ignored.
    ///
    /// The flows to feed are the heavy hitters: an elephant needs its rate from before it was one.
    pub fn close_window(
        &mut self,
        window: u64,
        rates: impl IntoIterator<Item = (FlowHash, u64)>,
        mut emit: impl FnMut(Event),
    ) {
        let next = *self.next.get_or_insert(window);
        if window < next {
            return;
        }
        // Two empty windows settle every flow at 0; further ones only change the time since its last rate.
        for empty in next..window.min(next.saturating_add(2)) {
            self.step(empty, &mut emit);
        }
        self.forget(window.saturating_sub(1));
        let tracked = self.flows.len();
        for (flow, bps) in rates {
            let known = self.flows.get_mut(..tracked).unwrap_or_default();
            match known.binary_search_by_key(&flow, |(flow, _)| *flow) {
                Ok(at) => known[at].1.current_bps = bps,
                Err(_) if self.flows.len() < self.capacity => {
                    self.flows.push((flow, Movement::begun(window, bps)));
                }
                Err(_) => self.refused += 1,
            }
        }
        self.step(window, &mut emit);
        self.forget(window);
        self.flows.sort_unstable_by_key(|(flow, _)| *flow);
        self.next = window.checked_add(1);
    }

    /// Ends every current move at the end of a capture: its continuation is unknown, so a fall in the last window
    /// counts as complete.
    pub fn finish(&mut self, mut emit: impl FnMut(Event)) {
        for (flow, movement) in &mut self.flows {
            movement.end(*flow, &self.thresholds).map(&mut emit);
        }
        self.flows.clear();
        self.next = None;
    }

    /// The number of tracked flows.
    #[must_use]
    pub fn tracked(&self) -> usize {
        self.flows.len()
    }

    /// The total number of rates that were ignored because the table was full.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn step(&mut self, window: u64, emit: &mut impl FnMut(Event)) {
        for (flow, movement) in &mut self.flows {
            movement.step(*flow, window, &self.thresholds).map(&mut *emit);
        }
    }

    fn forget(&mut self, window: u64) {
        let forget_after = self.forget_after;
        self.flows
            .retain(|(_, movement)| !movement.quiet_for(window, forget_after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GBPS: u64 = 1_000_000_000;

    /// Feeds rates of one flow, in tenths of Gbit/s, one a window, and two silent windows.
    fn fed(thresholds: Thresholds, tenths: &[u64]) -> Vec<Event> {
        let mut jitter = Jitter::new(thresholds, 4, 5);
        let mut events = Vec::new();
        let windows = (0..).zip(tenths);
        for (window, rate) in windows.filter(|(_, rate)| **rate > 0) {
            let rates = [(FlowHash(7), rate * GBPS / 10)];
            jitter.close_window(window, rates, |event| events.push(event));
        }
        jitter.close_window(tenths.len() as u64 + 1, [], |event| events.push(event));
        events
    }

    /// Each event as (kind, window, from, to), rates in tenths of Gbit/s.
    fn events_of(thresholds: Thresholds, tenths: &[u64]) -> Vec<(ChangeKind, u64, u64, u64)> {
        let tenths_of = |bps| bps * 10 / GBPS;
        let seen = |e: &Event| (e.kind, e.window, tenths_of(e.from_bps), tenths_of(e.to_bps));
        fed(thresholds, tenths).iter().map(seen).collect()
    }

    /// The changes between the start and the stop that frame them.
    fn jitter_of(tenths: &[u64]) -> Vec<(u64, u64, u64)> {
        let events = events_of(Thresholds::FUDAN, tenths);
        let jitter = events.into_iter().filter(|(kind, ..)| *kind == ChangeKind::Jitter);
        jitter.map(|(_, window, from, to)| (window, from, to)).collect()
    }

    #[test]
    fn a_steady_elephant_starts_and_stops() {
        let steady = [60, 61, 59, 60];
        let start_and_stop = [(ChangeKind::Start, 0, 0, 60), (ChangeKind::Stop, 4, 60, 0)];
        assert_eq!(events_of(Thresholds::FUDAN, &steady), start_and_stop);
    }

    #[test]
    fn part_filled_first_and_last_windows_are_no_change() {
        let edges = [30, 60, 60, 60, 30];
        let start_and_stop = [(ChangeKind::Start, 0, 0, 60), (ChangeKind::Stop, 4, 60, 0)];
        assert_eq!(events_of(Thresholds::FUDAN, &edges), start_and_stop);
    }

    #[test]
    fn each_of_four_changes_is_one_event() {
        let rates = [60, 60, 30, 30, 60, 60, 90, 90, 60, 60];
        let changes = [(2, 60, 30), (4, 30, 60), (6, 60, 90), (8, 90, 60)];
        assert_eq!(jitter_of(&rates), changes);
    }

    #[test]
    fn changes_in_every_window_are_events_in_every_window() {
        let changes = [(2, 60, 30), (3, 30, 60), (4, 60, 30)];
        assert_eq!(jitter_of(&[60, 60, 30, 60, 30, 30]), changes);
    }

    /// A change may fall anywhere in a window: also with nearly all or nearly none of its step before the edge.
    #[test]
    fn a_change_within_a_window_has_its_full_height() {
        for part in 0..=30 {
            for rates in [[60, 60, 60 - part, 30, 30], [30, 30, 30 + part, 60, 60]] {
                let [(window, from, to)] = jitter_of(&rates)[..] else {
                    panic!("not one change: {rates:?}");
                };
                // Steps below a twentieth of the threshold count as noise.
                assert!(from.abs_diff(rates[0]) <= 1 && to.abs_diff(rates[4]) <= 1);
                assert_eq!(window, if part < 2 { 3 } else { 2 });
            }
        }
    }

    #[test]
    fn only_one_small_step_at_either_end_belongs_to_a_change() {
        let rates = [90, 90, 80, 70, 40, 30, 20, 20];
        assert_eq!(jitter_of(&rates), [(3, 80, 30)]);
        let back = [60, 60, 30, 28, 30, 60, 60];
        assert_eq!(jitter_of(&back), [(2, 60, 28), (4, 28, 60)]);
    }

    #[test]
    fn small_changes_slow_drifts_and_mice_are_no_events() {
        assert_eq!(jitter_of(&[60, 60, 36, 36, 60, 60]), []);
        assert_eq!(jitter_of(&[90, 80, 70, 60, 50, 40, 30]), []);
        assert_eq!(jitter_of(&[49, 49, 10, 10, 49, 49]), []);
    }

    #[test]
    fn a_mouse_that_grows_is_compared_with_what_it_was() {
        assert_eq!(jitter_of(&[20, 20, 60, 60]), [(2, 20, 60)]);
    }

    #[test]
    fn an_empty_window_between_is_rate_zero() {
        assert_eq!(jitter_of(&[60, 60, 0, 60, 60]), [(2, 60, 0), (3, 0, 60)]);
        let stall = events_of(Thresholds::FUDAN, &[60, 60, 0, 0, 60, 60]);
        assert_eq!(
            stall[1..3],
            [(ChangeKind::Stop, 2, 60, 0), (ChangeKind::Jitter, 4, 0, 60)]
        );
    }

    #[test]
    fn a_flow_is_forgotten_and_starts_anew() {
        let gap = events_of(Thresholds::FUDAN, &[60, 60, 0, 0, 0, 0, 0, 0, 0, 0, 60, 60]);
        let kinds: Vec<_> = gap.iter().map(|event| event.0).collect();
        assert_eq!(
            kinds,
            [ChangeKind::Start, ChangeKind::Stop, ChangeKind::Start, ChangeKind::Stop]
        );
    }

    #[test]
    fn relative_thresholds_are_shares_of_the_rate_before() {
        let half = Thresholds {
            relative: Some(0.5),
            absolute_bps: None,
            ..Thresholds::FUDAN
        };
        let rates = [60, 60, 31, 31, 60, 60, 90, 90];
        let jitter = [(ChangeKind::Jitter, 4, 31, 60), (ChangeKind::Jitter, 6, 60, 90)];
        assert_eq!(events_of(half, &rates)[1..3], jitter);
        let both = Thresholds {
            relative: Some(0.6),
            ..Thresholds::FUDAN
        };
        assert_eq!(events_of(both, &rates)[1..2], [(ChangeKind::Jitter, 4, 31, 60)]);
    }

    #[test]
    fn the_end_of_a_capture_ends_the_moves() {
        let mut jitter = Jitter::new(Thresholds::FUDAN, 4, 5);
        let mut events = Vec::new();
        for (window, gbps) in [6, 6, 3].into_iter().enumerate() {
            let rates = [(FlowHash(7), gbps * GBPS)];
            jitter.close_window(window as u64, rates, |event| events.push(event));
        }
        jitter.finish(|event| events.push(event));
        assert_eq!(
            events.last().map(|event| (event.kind, event.window)),
            Some((ChangeKind::Jitter, 2))
        );
        assert_eq!(jitter.tracked(), 0);
    }

    #[test]
    fn a_full_table_refuses_and_counts() {
        let mut jitter = Jitter::new(Thresholds::FUDAN, 2, 5);
        let rates = [1, 2, 3].map(|flow| (FlowHash(flow), GBPS));
        jitter.close_window(0, rates, |_| ());
        assert_eq!((jitter.tracked(), jitter.refused()), (2, 1));
    }

    #[test]
    fn a_window_that_was_closed_is_ignored() {
        let mut jitter = Jitter::new(Thresholds::FUDAN, 2, 5);
        jitter.close_window(5, [(FlowHash(1), GBPS)], |_| ());
        jitter.close_window(5, [(FlowHash(2), GBPS)], |_| ());
        assert_eq!(jitter.tracked(), 1);
        jitter.close_window(u64::MAX, [(FlowHash(2), GBPS)], |_| ());
        assert_eq!(jitter.tracked(), 1, "flow 1 was forgotten in the gap");
    }

    proptest! {
        /// For any rates: an event passes its thresholds, events of a flow do not overlap, and a literal change between
        /// adjacent windows is part of one.
        #[test]
        fn events_are_changes_and_changes_are_events(
            tenths in prop::collection::vec(1u64..100, 1..40),
        ) {
            let events = fed(Thresholds::FUDAN, &tenths);
            for event in &events {
                let height = event.from_bps.abs_diff(event.to_bps);
                prop_assert!(height >= 25 * GBPS / 10);
                prop_assert!(event.from_bps.max(event.to_bps) >= 5 * GBPS);
                prop_assert!(event.window <= event.settled);
            }
            prop_assert!(events.windows(2).all(|pair| pair[0].settled < pair[1].window));
            for (window, pair) in (1..).zip(tenths.windows(2)) {
                let change = pair[0].abs_diff(pair[1]) >= 25 && pair[0].max(pair[1]) >= 50;
                let covered = events.iter().any(|e| (e.window..=e.settled).contains(&window));
                prop_assert!(!change || covered, "window {window} of {tenths:?}: {events:?}");
            }
        }
    }
}
