//! Which rows of a capture the collector gets: those that judge hosts, bounded in each window.

use rocescope_collector::control::message::WireCounts;
use rocescope_diagnose::hosts::is_judged;
use rocescope_model::{ConnectionRow, EventRow, FlowRow, WindowRows};
use std::collections::HashSet;
use std::net::IpAddr;

/// Rows that wait for the end of their window, and what happened to all rows.
pub(super) struct Wire {
    budget: usize,
    waiting: WindowRows,
    pub(super) counts: WireCounts,
}

/// How important a row is, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It shows trouble.
    Trouble,
    /// It is of an address that has trouble: shares of the traffic of that address need it.
    Beside,
    Quiet,
}

impl Wire {
    /// At most `budget` rows a window.
    pub(super) fn new(budget: u32) -> Self {
        Self {
            budget: budget as usize,
            waiting: WindowRows::default(),
            counts: WireCounts::default(),
        }
    }

    /// Adds the rows of a tap; returns those to send when a window has ended, or `is_end`.
    pub(super) fn take(&mut self, rows: &WindowRows, is_end: bool) -> Option<WindowRows> {
        // What was recorded is evidence about collectives.
        let is_read = |event: &&EventRow| is_judged(event) || &*event.kind == EventRow::SLOW_STEP;
        let read = rows.events.iter().filter(is_read);
        self.waiting.events.extend(read.cloned());
        self.counts.unread += (rows.events.len() - rows.events.iter().filter(is_read).count()) as u64;
        self.waiting.flows.extend_from_slice(&rows.flows);
        self.waiting.connections.extend_from_slice(&rows.connections);
        let windows = rows.windows.len().max(usize::from(is_end));
        (windows > 0).then(|| self.choose(self.budget.saturating_mul(windows)))
    }

    fn choose(&mut self, budget: usize) -> WindowRows {
        let WindowRows {
            mut events,
            flows,
            connections,
            ..
        } = std::mem::take(&mut self.waiting);
        // A storm of events must leave room for the flows that they are about.
        let most = events
            .len()
            .min((budget / 2).max(budget.saturating_sub(flows.len() + connections.len())));
        self.counts.over_budget += (events.len() - most) as u64;
        events.truncate(most);
        let mut troubled: HashSet<IpAddr> = HashSet::new();
        troubled.extend(events.iter().flat_map(|event| [event.src, event.dst]).flatten());
        troubled.extend(
            flows
                .iter()
                .filter(|row| has_trouble(row))
                .flat_map(|row| [row.src, row.dst]),
        );
        let rank = |is_trouble: bool, src: &IpAddr, dst: &IpAddr| match is_trouble {
            true => Rank::Trouble,
            false if troubled.contains(src) || troubled.contains(dst) => Rank::Beside,
            false => Rank::Quiet,
        };
        // Flows before connections of the same rank, the largest first.
        let of_flow =
            |(at, row): (usize, &FlowRow)| (rank(has_trouble(row), &row.src, &row.dst), false, row.frame_bytes, at);
        let of_connection = |(at, row): (usize, &ConnectionRow)| {
            (
                rank(has_failed(row), &row.src, &row.dst),
                true,
                row.retransmitted_packets,
                at,
            )
        };
        let mut order: Vec<_> = flows.iter().enumerate().map(of_flow).collect();
        order.extend(connections.iter().enumerate().map(of_connection));
        order.sort_unstable_by_key(|(rank, is_connection, size, at)| {
            (*rank, *is_connection, std::cmp::Reverse(*size), *at)
        });
        let left = order.split_off(order.len().min(budget - most));
        let without = left.iter().filter(|(rank, ..)| *rank != Rank::Trouble).count();
        self.counts.quiet += without as u64;
        self.counts.over_budget += (left.len() - without) as u64;
        // In the order of time, as the analysis reads connections.
        order.sort_unstable_by_key(|(.., at)| *at);
        let places = |of_connections: bool| {
            let of = order
                .iter()
                .filter(move |(_, is_connection, ..)| *is_connection == of_connections);
            of.map(|(.., at)| *at)
        };
        WindowRows {
            flows: places(false).map(|at| flows[at].clone()).collect(),
            connections: places(true).map(|at| connections[at].clone()).collect(),
            events,
            ..WindowRows::default()
        }
    }

    /// Rows were put into the spool.
    pub(super) fn sent(&mut self, rows: &WindowRows) {
        self.counts.sent += (rows.flows.len() + rows.connections.len() + rows.events.len()) as u64;
    }
}

/// Losses, congestion, or CNPs about it.
fn has_trouble(flow: &FlowRow) -> bool {
    flow.retransmitted_packets.is_some_and(|packets| packets > 0) || flow.ecn_ce_packets > 0 || &*flow.service == "CNP"
}

/// Since its begin: rows of connections are sums.
const fn has_failed(row: &ConnectionRow) -> bool {
    row.retransmitted_packets > 0
        || row.fabric_lost_packets() > 0
        || row.nak_psn_sequence + row.rnr_nak + row.nak_fatal + row.timeouts > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::WindowRow;

    fn flow(src: u8, dst: u8, bytes: u64, retransmitted: u64) -> FlowRow {
        FlowRow {
            src: IpAddr::from([10, 0, 0, src]),
            dst: IpAddr::from([10, 0, 0, dst]),
            frame_bytes: bytes,
            retransmitted_packets: Some(retransmitted),
            ..FlowRow::default()
        }
    }

    fn event(kind: &'static str) -> EventRow {
        EventRow {
            kind: kind.into(),
            src: Some(IpAddr::from([10, 0, 0, 1])),
            dst: Some(IpAddr::from([10, 0, 0, 2])),
            dst_qpn: Some(7),
            ..EventRow::default()
        }
    }

    fn window(flows: Vec<FlowRow>, events: Vec<EventRow>) -> WindowRows {
        WindowRows {
            windows: vec![WindowRow::default()],
            flows,
            events,
            ..WindowRows::default()
        }
    }

    #[test]
    fn rows_with_trouble_come_first_then_those_of_their_addresses_and_every_other_row_is_counted() {
        let mut wire = Wire::new(4);
        // Events come before their window.
        let early = WindowRows {
            events: vec![event("loss"), event("connect")],
            ..WindowRows::default()
        };
        assert!(wire.take(&early, false).is_none());
        let flows = vec![
            flow(5, 6, 900, 0),
            flow(3, 4, 10, 2),
            flow(1, 9, 20, 0),
            flow(7, 8, 800, 0),
        ];
        let rows = wire.take(&window(flows.clone(), Vec::new()), false).unwrap();
        wire.sent(&rows);
        assert_eq!(rows.events.len(), 1);
        assert_eq!(rows.flows, [flows[0].clone(), flows[1].clone(), flows[2].clone()]);
        let expected = WireCounts {
            sent: 4,
            quiet: 1,
            unread: 1,
            ..WireCounts::default()
        };
        assert_eq!(wire.counts, expected);
    }

    #[test]
    fn a_storm_of_events_leaves_room_for_flows_and_trouble_beyond_the_budget_is_counted() {
        let mut wire = Wire::new(10);
        let flows: Vec<FlowRow> = (0..20).map(|n| flow(1, 2, n, 1)).collect();
        let rows = wire.take(&window(flows, vec![event("rnr_nak"); 100]), false).unwrap();
        assert_eq!((rows.events.len(), rows.flows.len()), (5, 5));
        assert_eq!((wire.counts.over_budget, wire.counts.quiet), (95 + 15, 0));
        // The next window has a budget of its own, and the end takes what arrived since.
        let rows = wire
            .take(
                &WindowRows {
                    events: vec![event("loss")],
                    ..WindowRows::default()
                },
                true,
            )
            .unwrap();
        assert_eq!(rows.events.len(), 1);
    }
}
