//! What rows of connections have more than those before them.
//!
//! Rows of connections are totals since the first packet, written once a minute and at the end. Metrics of a minute need the
//! difference.

use hashbrown::HashMap;
use rocescope_model::{ConnectionRow, Text};

/// Directions whose totals are kept: some 100 MB.
const MAX_DIRECTIONS: usize = 500_000;
/// The first row of a direction comes a minute after its first packet. Where an older one is the first that is known, its
/// totals are mostly of earlier windows.
const YOUNG_NS: i64 = 120_000_000_000;

/// What queue pairs sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Payload.
    pub payload_bytes: u64,
    /// Packets that the fabric lost.
    pub fabric_lost_packets: u64,
    /// Packets that were retransmitted.
    pub retransmitted_packets: u64,
}

impl Sums {
    const fn of(row: &ConnectionRow) -> Self {
        Self {
            payload_bytes: row.payload_bytes,
            fabric_lost_packets: row.fabric_lost_packets(),
            retransmitted_packets: row.retransmitted_packets,
        }
    }

    const fn since(self, before: Self) -> Self {
        Self {
            payload_bytes: self.payload_bytes.saturating_sub(before.payload_bytes),
            // What seemed lost may turn out to be late.
            fabric_lost_packets: self.fabric_lost_packets.saturating_sub(before.fabric_lost_packets),
            retransmitted_packets: self.retransmitted_packets.saturating_sub(before.retransmitted_packets),
        }
    }

    pub(crate) const fn add(&mut self, more: Self) {
        self.payload_bytes += more.payload_bytes;
        self.fabric_lost_packets += more.fabric_lost_packets;
        self.retransmitted_packets += more.retransmitted_packets;
    }
}

/// The last row of a direction.
#[derive(Clone, Copy, Debug)]
struct Last {
    packets: u64,
    sums: Sums,
    time_ns: i64,
}

/// The last row of each direction.
#[derive(Debug, Default)]
pub struct Growth {
    /// By observer, connection and whether it is the direction from `b` to `a`.
    last: HashMap<(Text, i64, bool), Last>,
    crowded_out: u64,
}

impl Growth {
    /// What a row has more than the one before it; `None` if that is not known. Rows of a direction come in the order of
    /// time.
    pub fn row(&mut self, row: &ConnectionRow) -> Option<Sums> {
        let direction = (row.observer.clone(), row.connection, &*row.role == "b_to_a");
        let known = self.last.get(&direction).copied();
        if known.is_some_and(|known| row.time_ns <= known.time_ns) {
            return None;
        }
        let sums = Sums::of(row);
        if &*row.state == "gone" {
            self.last.remove(&direction);
        } else if known.is_some() || self.last.len() < MAX_DIRECTIONS {
            let last = Last {
                packets: row.packets,
                sums,
                time_ns: row.time_ns,
            };
            self.last.insert(direction, last);
        } else {
            self.crowded_out += 1;
        }
        let begun_ns = row.first_ns.unwrap_or(row.last_ns);
        match known {
            Some(known) if known.packets <= row.packets => Some(sums.since(known.sums)),
            // A capture that starts again numbers from the start.
            _ => (row.time_ns.saturating_sub(begun_ns) <= YOUNG_NS).then_some(sums),
        }
    }

    /// Rows of directions that found no room: what they sent until their next row may be missing.
    #[must_use]
    pub const fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// Forgets the directions without a row since a time.
    pub fn forget(&mut self, before_ns: i64) {
        self.last.retain(|_, last| last.time_ns >= before_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    /// What a connection sent since second 10.
    fn row(second: i64, packets: u64) -> ConnectionRow {
        ConnectionRow {
            observer: "tap".into(),
            connection: 1,
            role: "a_to_b".into(),
            state: "active".into(),
            first_ns: Some(10 * SECOND_NS),
            last_ns: second * SECOND_NS,
            time_ns: second * SECOND_NS,
            packets,
            payload_bytes: 1_000 * packets,
            fabric_lost_upstream_packets: packets / 2,
            retransmitted_packets: packets,
            ..ConnectionRow::default()
        }
    }

    fn sums(packets: u64) -> Option<Sums> {
        Some(Sums {
            payload_bytes: 1_000 * packets,
            fabric_lost_packets: packets / 2,
            retransmitted_packets: packets,
        })
    }

    #[test]
    fn a_row_counts_what_the_one_before_it_has_not() {
        let mut growth = Growth::default();
        assert_eq!(growth.row(&row(70, 4)), sums(4));
        assert_eq!(growth.row(&row(130, 10)), sums(6));
        // A row that comes a second time.
        assert_eq!(growth.row(&row(130, 10)), None);
        // The last row, and another connection of the same number.
        let gone = ConnectionRow {
            state: "gone".into(),
            ..row(140, 12)
        };
        assert_eq!(growth.row(&gone), sums(2));
        let again = ConnectionRow {
            first_ns: Some(150 * SECOND_NS),
            ..row(210, 6)
        };
        assert_eq!(growth.row(&again), sums(6));
    }

    #[test]
    fn totals_of_earlier_windows_do_not_count() {
        let mut growth = Growth::default();
        assert_eq!(growth.row(&row(1_000, 90)), None);
        assert_eq!(growth.row(&row(1_060, 92)), sums(2));
        // A capture that was started again: fewer packets, from a later time.
        let restarted = ConnectionRow {
            first_ns: Some(1_070 * SECOND_NS),
            ..row(1_120, 4)
        };
        assert_eq!(growth.row(&restarted), sums(4));
        growth.forget(2_000 * SECOND_NS);
        assert!(growth.last.is_empty());
    }
}
