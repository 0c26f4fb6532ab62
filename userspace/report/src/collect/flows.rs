//! Flows by key, with exact bounds for what the lists of windows omit.
//!
//! A flow that two observers saw is two flows here, each with the sizes and the time of its observer: their sum would
//! be the traffic of no link, and one observer may have captured longer.
//!
//! A window lists its largest flows. A flow that it does not list is at most as large as the smallest listed one and as
//! the unlisted rest of the window's total; it is 0 if the window lists all its flows. So the size of a flow over many
//! windows is at least the sum of its listed sizes minus their errors, and at most the sum of its listed sizes plus
//! these bounds of the other windows.
//!
//! The table holds up to twice [`FOLLOWED_FLOWS`] flows. When it is full, the smaller half is removed, and the maximum
//! possible size of a removed flow is kept: a flow that enters later may be one of them, and starts with that
//! uncertainty.

use super::totals::Totals;
use super::unlisted_bounds::{UnlistedBounds, is_whole, min_bytes, min_packets};
use rocescope_model::filter::RowFilter;
use rocescope_model::{FlowRow, Over, Row, WindowRow};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Flows that remain when the table is full: 65,536 of about 350 bytes, at most 46 MB.
pub const FOLLOWED_FLOWS: usize = 65_536;

type Key = (
    (IpAddr, IpAddr),
    (u32, Option<u16>),
    (Option<u16>, Option<u16>, Option<u32>),
);

/// The index of an observer, and a flow that it saw.
type KeyAt = (usize, Key);

fn key(row: &FlowRow) -> Key {
    (
        (row.src, row.dst),
        (row.dst_qpn, row.udp_src_port),
        (row.vlan, row.inner_vlan, row.vni),
    )
}

/// An observer, over all its windows.
#[derive(Debug)]
struct Point {
    name: String,
    /// Bounds for unlisted flows, summed over all windows.
    unlisted: UnlistedBounds,
    /// Sum of all flows.
    all: UnlistedBounds,
    /// Length of the windows.
    covered_ns: i64,
}

/// The state of a flow.
#[derive(Debug)]
struct Tally {
    /// Sums of the listed rows of the flow.
    sums: FlowRow,
    /// Bounds of the windows that list the flow, which do not apply to it.
    listed: UnlistedBounds,
    /// Maximum size before it entered the table.
    before: UnlistedBounds,
}

/// The table of flows.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: HashMap<KeyAt, Tally>,
    /// Observers by index.
    points: Vec<Point>,
    /// Maximum listed size of a removed flow.
    gone: UnlistedBounds,
    forgotten: bool,
    /// Whether any window listed fewer flows than it saw.
    cut: bool,
}

/// The top flows.
#[derive(Debug, Clone, Default)]
pub struct FlowFigures {
    /// The largest by lower bound. Sizes are never below the true value, and above it by at most their `error_`
    /// columns; the window is the whole span, rates are over the windows of the observer.
    pub rows: Vec<FlowRow>,
    /// Those with the most ECN marks.
    pub marked: Vec<FlowRow>,
    /// Sprayed directions whose ports are known, the most uneven window first.
    pub sprayed: Vec<FlowRow>,
    /// Number of distinct flows, over all observers.
    pub distinct: u64,
    /// Whether `distinct` is exact, not a lower bound.
    pub distinct_exact: bool,
    /// Number of sprayed directions whose ports are known.
    pub spraying: u64,
    /// Number of flows that reached the elephant threshold in a window.
    pub elephants: u64,
}

impl Flows {
    /// Adds the rows that `observer` lists for a window and that match `filter`.
    pub(super) fn window<'a>(
        &mut self,
        observer: &str,
        windows: &[&WindowRow],
        listed: impl Iterator<Item = &'a FlowRow>,
        filter: Option<&RowFilter>,
    ) {
        let listed: Vec<&FlowRow> = listed.collect();
        let unlisted = UnlistedBounds::beside(windows, &listed);
        self.cut |= !is_whole(windows, &listed);
        let number = self.point(observer, windows, unlisted);
        for row in listed {
            if filter.is_none_or(|filter| filter.matches(std::slice::from_ref(row), 0)) {
                self.add(row, number, unlisted);
            }
        }
        if self.flows.len() > 2 * FOLLOWED_FLOWS {
            self.forget(FOLLOWED_FLOWS);
        }
    }

    /// Adds a window to its observer and returns the observer's index.
    fn point(&mut self, observer: &str, windows: &[&WindowRow], unlisted: UnlistedBounds) -> usize {
        let met = self.points.iter().position(|point| point.name == observer);
        let number = met.unwrap_or(self.points.len());
        if met.is_none() {
            self.points.push(Point {
                name: observer.into(),
                unlisted: UnlistedBounds::default(),
                all: UnlistedBounds::default(),
                covered_ns: 0,
            });
        }
        let point = &mut self.points[number];
        point.unlisted.add(unlisted);
        for row in windows {
            point.all.add(UnlistedBounds {
                frame_bytes: row.frame_bytes,
                packets: row.roce_packets,
            });
        }
        let length = windows.iter().map(|row| row.window_ns).max().unwrap_or(0);
        point.covered_ns = point.covered_ns.saturating_add(length);
        number
    }

    fn add(&mut self, row: &FlowRow, point: usize, unlisted: UnlistedBounds) {
        let before = self.gone;
        let tally = self
            .flows
            .entry((point, key(row)))
            .and_modify(|tally| tally.sums.merge(row, Over::Time))
            .or_insert_with(|| Tally {
                sums: row.clone(),
                listed: UnlistedBounds::default(),
                before,
            });
        tally.listed.add(unlisted);
    }

    /// Keeps the `keep` largest flows.
    fn forget(&mut self, keep: usize) {
        let mut sizes: Vec<(u64, KeyAt)> = self
            .flows
            .iter()
            .map(|(key, tally)| (min_bytes(&tally.sums), *key))
            .collect();
        if sizes.len() <= keep {
            return;
        }
        sizes.select_nth_unstable_by(keep, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, key) in sizes.drain(keep..) {
            if let Some(tally) = self.flows.remove(&key) {
                let mut had = tally.before;
                had.add(UnlistedBounds {
                    frame_bytes: tally.sums.frame_bytes,
                    packets: tally.sums.packets,
                });
                self.gone = self.gone.larger(had);
            }
        }
        self.forgotten = true;
    }

    pub(super) fn finish(self, top: usize, totals: &Totals) -> FlowFigures {
        let different = |wanted: fn(&Tally) -> bool| {
            let met = self.flows.iter().filter(|(_, tally)| wanted(tally));
            met.map(|((_, key), _)| key).collect::<HashSet<_>>().len() as u64
        };
        let distinct = different(|_| true);
        let elephants = different(|tally| tally.sums.elephant);
        let mut flows: Vec<(KeyAt, Tally)> = self.flows.into_iter().collect();
        let row = |rank: usize, (number, _): &KeyAt, tally: &Tally| {
            let point = &self.points[*number];
            let mut doubt = point.unlisted.less(tally.listed);
            doubt.add(tally.before);
            let mut row = tally.sums.clone();
            let observed_bytes = row.frame_bytes.saturating_add(doubt.frame_bytes);
            // No flow is larger than the sum of all.
            row.frame_bytes = observed_bytes.min(point.all.frame_bytes);
            let least = min_bytes(&tally.sums);
            row.error_frame_bytes = row.frame_bytes.saturating_sub(least);
            row.packets = row.packets.saturating_add(doubt.packets);
            row.packets = row.packets.min(point.all.packets);
            row.error_packets = row.packets.saturating_sub(min_packets(&tally.sums));
            row.rank = u32::try_from(rank + 1).unwrap_or(u32::MAX);
            row.window_start = rocescope_model::Time(totals.start_ns);
            row.window_start_ns = totals.start_ns;
            row.window_ns = totals.span_ns();
            let rate = |bytes: u64| bytes as f64 * 8e9 / point.covered_ns.max(1) as f64;
            row.frame_bps = rate(row.frame_bytes);
            row.payload_bps = rate(row.payload_bytes);
            row
        };
        flows.sort_by(|(a_key, a), (b_key, b)| {
            let by_size = min_bytes(&b.sums).cmp(&min_bytes(&a.sums));
            by_size.then(a_key.cmp(b_key))
        });
        let ranked = || flows.iter().enumerate();
        let rows = ranked().take(top).map(|(rank, (key, tally))| row(rank, key, tally));
        let rows = rows.collect();
        let mut marked: Vec<_> = ranked()
            .filter(|(_, (_, tally))| tally.sums.ecn_ce_packets > 0)
            .collect();
        marked.sort_by_key(|(_, (_, tally))| std::cmp::Reverse(tally.sums.ecn_ce_packets));
        let marked = marked.into_iter().take(top);
        let marked = marked.map(|(rank, (key, tally))| row(rank, key, tally)).collect();
        let imbalance = |tally: &Tally| tally.sums.port_imbalance_ratio;
        let mut sprayed: Vec<_> = ranked().filter(|(_, (_, tally))| imbalance(tally).is_some()).collect();
        // Stable: equal ones stay in the order of their sizes.
        sprayed.sort_by(|(_, (_, a)), (_, (_, b))| imbalance(b).partial_cmp(&imbalance(a)).unwrap_or(Ordering::Equal));
        let spraying = sprayed.len() as u64;
        let sprayed = sprayed.into_iter().take(top);
        let sprayed = sprayed.map(|(rank, (key, tally))| row(rank, key, tally)).collect();
        FlowFigures {
            rows,
            marked,
            sprayed,
            spraying,
            distinct,
            distinct_exact: !self.cut && !self.forgotten,
            elephants,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Flows;
    use crate::collect::Totals;
    use rocescope_model::{FlowRow, WindowRow};

    /// Sizes of the flows of a window, by destination QP.
    type Window<'a> = &'a [(u32, u64)];

    fn totals(windows: &[Window<'_>]) -> Totals {
        let mut totals = Totals::default();
        let all = windows.iter().flat_map(|window| window.iter());
        totals.sums.frame_bytes = all.map(|(_, bytes)| bytes).sum();
        totals.sums.roce_packets = totals.sums.frame_bytes / 100;
        totals
    }

    fn add(flows: &mut Flows, observer: &'static str, window: Window<'_>, list: usize) {
        let bytes: u64 = window.iter().map(|(_, bytes)| bytes).sum();
        let row = WindowRow {
            flows: window.len() as u64,
            flows_exact: true,
            frame_bytes: bytes,
            roce_packets: bytes / 100,
            window_ns: 1_000_000_000,
            ..WindowRow::default()
        };
        let mut largest = window.to_vec();
        largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let listed: Vec<FlowRow> = largest
            .iter()
            .take(list)
            .map(|(qpn, bytes)| FlowRow {
                observer: observer.into(),
                dst_qpn: *qpn,
                frame_bytes: *bytes,
                packets: bytes / 100,
                ..FlowRow::default()
            })
            .collect();
        flows.window(observer, &[&row], listed.iter(), None);
    }

    fn truth(windows: &[Window<'_>], qpn: u32) -> u64 {
        let all = windows.iter().flat_map(|window| window.iter());
        all.filter(|(found, _)| *found == qpn).map(|(_, bytes)| bytes).sum()
    }

    const WINDOWS: [Window<'_>; 3] = [
        &[(1, 9_000), (2, 500), (3, 400), (4, 300)],
        &[(1, 100), (2, 700), (3, 600), (4, 200)],
        &[(1, 8_000), (5, 7_000), (4, 200)],
    ];

    #[test]
    fn whole_lists_give_exact_sums() {
        let mut flows = Flows::default();
        WINDOWS.iter().for_each(|window| add(&mut flows, "a", window, 9));
        let figures = flows.finish(9, &totals(&WINDOWS));
        assert!(figures.distinct_exact);
        assert_eq!(figures.distinct, 5);
        for row in &figures.rows {
            assert_eq!(row.frame_bytes, truth(&WINDOWS, row.dst_qpn));
            assert_eq!((row.error_frame_bytes, row.error_packets), (0, 0));
        }
        let sizes: Vec<u64> = figures.rows.iter().map(|row| row.frame_bytes).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn cut_lists_give_bounds_that_hold() {
        for list in 1..4 {
            let mut flows = Flows::default();
            WINDOWS.iter().for_each(|window| add(&mut flows, "a", window, list));
            let figures = flows.finish(9, &totals(&WINDOWS));
            assert!(!figures.distinct_exact);
            for row in &figures.rows {
                let truth = truth(&WINDOWS, row.dst_qpn);
                assert!(row.frame_bytes >= truth && row.packets >= truth / 100);
                assert!(row.frame_bytes - row.error_frame_bytes <= truth);
                assert!(row.packets - row.error_packets <= truth / 100);
            }
        }
    }

    #[test]
    fn what_was_forgotten_widens_the_bounds_of_who_comes_back() {
        let mut flows = Flows::default();
        add(&mut flows, "a", WINDOWS[0], 9);
        flows.forget(2);
        add(&mut flows, "a", WINDOWS[1], 9);
        flows.forget(2);
        add(&mut flows, "a", WINDOWS[2], 9);
        let figures = flows.finish(9, &totals(&WINDOWS));
        assert!(!figures.distinct_exact);
        let mut widened = 0;
        for row in &figures.rows {
            let truth = truth(&WINDOWS, row.dst_qpn);
            assert!(row.frame_bytes >= truth, "{row:?}");
            assert!(row.frame_bytes - row.error_frame_bytes <= truth);
            widened += usize::from(row.error_frame_bytes > 0);
        }
        assert!(widened > 0);
        assert_eq!(figures.rows[0].error_frame_bytes, 0, "it was never forgotten");
    }

    /// The second observer captured for a third of the time: its flow's rate is not averaged over the time of the
    /// other, and the two are not added.
    #[test]
    fn capture_points_have_flows_of_their_own() {
        let mut flows = Flows::default();
        WINDOWS.iter().for_each(|window| add(&mut flows, "a", window, 9));
        add(&mut flows, "b", WINDOWS[0], 9);
        let figures = flows.finish(99, &totals(&WINDOWS));
        assert_eq!((figures.distinct, figures.rows.len()), (5, 9));
        let of = |point: &str| {
            let mut rows = figures.rows.iter();
            let row = rows.find(|row| &*row.observer == point && row.dst_qpn == 1);
            row.unwrap()
        };
        assert_eq!((of("a").frame_bytes, of("b").frame_bytes), (17_100, 9_000));
        assert_eq!((of("a").frame_bps, of("b").frame_bps), (45_600.0, 72_000.0));
        assert!(figures.rows.iter().all(|row| row.error_frame_bytes == 0));
    }
}
