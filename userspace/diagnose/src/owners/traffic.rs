//! Traffic by owner in a window of time.
//!
//! Rows of connections are totals since the first packet, written once a minute and at the end. What a row has more than the
//! one before it is of the owner of its sender.

use super::{Answer, Owners};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use hashbrown::HashMap;
use rocescope_model::{ConnectionRow, Text};

/// What no agent reported.
pub const UNKNOWN: &str = "unknown";
/// What may be of several.
pub const AMBIGUOUS: &str = "ambiguous";
/// What has no name of its own.
pub const OTHER: &str = "other";

/// Directions whose totals are kept: some 100 MB.
const MAX_DIRECTIONS: usize = 500_000;
/// Owners whose sums are kept in a window.
const MAX_OWNERS: usize = 10_000;
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

    const fn add(&mut self, more: Self) {
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

/// Traffic by owner since the last [`take`](Self::take).
#[derive(Debug, Default)]
pub struct Traffic {
    /// By observer, connection and whether it is the direction from `b` to `a`.
    last: HashMap<(Text, i64, bool), Last>,
    window: BTreeMap<String, Sums>,
    crowded_out: u64,
}

impl Traffic {
    /// Adds a row; those of a direction come in the order of time.
    pub fn row(&mut self, row: &ConnectionRow, owners: &Owners) {
        let Some(grown) = self.grown(row).filter(|grown| *grown != Sums::default()) else {
            return;
        };
        let name = match owners.sender(row) {
            Answer::Unknown => String::from(UNKNOWN),
            Answer::Ambiguous => String::from(AMBIGUOUS),
            Answer::Owner(owner) => owner.group(),
        };
        let has_room = self.window.len() < MAX_OWNERS || self.window.contains_key(&name);
        let name = if has_room { name } else { String::from(OTHER) };
        self.window.entry(name).or_default().add(grown);
    }

    /// What a row has more than the one before it; `None` if that is not known.
    fn grown(&mut self, row: &ConnectionRow) -> Option<Sums> {
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

    /// The sums of the window that ends, and begins the next: of the `max` owners with the most payload, of all others
    /// together, and of what has no owner.
    pub fn take(&mut self, max: usize) -> Vec<(String, Sums)> {
        let mut window = core::mem::take(&mut self.window);
        let nameless = [UNKNOWN, AMBIGUOUS, OTHER].map(|name| window.remove_entry(name));
        let mut owners: Vec<(String, Sums)> = window.into_iter().collect();
        owners.sort_by_key(|(_, sums)| Reverse(sums.payload_bytes));
        let rest = owners.split_off(max.min(owners.len()));
        owners.extend(nameless.into_iter().flatten());
        if !rest.is_empty() {
            let at = owners.iter().position(|(name, _)| name == OTHER);
            let at = at.unwrap_or_else(|| {
                owners.push((String::from(OTHER), Sums::default()));
                owners.len() - 1
            });
            if let Some((_, other)) = owners.get_mut(at) {
                rest.into_iter().for_each(|(_, sums)| other.add(sums));
            }
        }
        owners
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
    use alloc::format;
    use rocescope_model::QueuePairRow;
    use std::vec;

    const SECOND_NS: i64 = 1_000_000_000;

    /// Hosts 1 to 9 have queue pair 7 each, of a job of their own.
    fn owners() -> Owners {
        let mut owners = Owners::default();
        for host in 1..10_u8 {
            owners.row(&QueuePairRow {
                observer: format!("gpu-{host}").into(),
                device: "mlx5_0".into(),
                local_qpn: 7,
                pid: Some(42),
                job_id: Some(format!("{host}").into()),
                local_address: Some([10, 0, 0, host].into()),
                first_ns: 0,
                time_ns: 0,
                ..QueuePairRow::default()
            });
        }
        owners
    }

    /// A row of what host `HOST` sent since second 10.
    fn row(host: u8, second: i64, payload_bytes: u64) -> ConnectionRow {
        ConnectionRow {
            observer: "tap".into(),
            connection: host.into(),
            role: "a_to_b".into(),
            state: "active".into(),
            src: [10, 0, 0, host].into(),
            src_qpn: Some(7),
            dst: [10, 0, 1, 1].into(),
            first_ns: Some(10 * SECOND_NS),
            last_ns: second * SECOND_NS,
            time_ns: second * SECOND_NS,
            packets: payload_bytes / 1_000,
            payload_bytes,
            fabric_lost_upstream_packets: payload_bytes / 2_000,
            retransmitted_packets: payload_bytes / 1_000,
            ..ConnectionRow::default()
        }
    }

    fn taken(traffic: &mut Traffic, max: usize) -> Vec<(String, u64)> {
        let all = traffic.take(max).into_iter();
        all.map(|(name, sums)| (name, sums.payload_bytes)).collect()
    }

    fn of(name: &str, bytes: u64) -> (String, u64) {
        (name.into(), bytes)
    }

    #[test]
    fn a_window_has_what_rows_grew_by() {
        let (owners, mut traffic) = (owners(), Traffic::default());
        traffic.row(&row(1, 70, 4_000), &owners);
        let sums = Sums {
            payload_bytes: 4_000,
            fabric_lost_packets: 2,
            retransmitted_packets: 4,
        };
        assert_eq!(traffic.take(9), [("job 1".into(), sums)]);
        assert_eq!(taken(&mut traffic, 9), []);
        traffic.row(&row(1, 130, 9_000), &owners);
        // A row that comes a second time adds nothing.
        traffic.row(&row(1, 130, 9_000), &owners);
        assert_eq!(taken(&mut traffic, 9), [of("job 1", 5_000)]);
        // The last row, and another connection of the same number.
        let gone = ConnectionRow {
            state: "gone".into(),
            ..row(1, 140, 9_500)
        };
        traffic.row(&gone, &owners);
        let again = ConnectionRow {
            first_ns: Some(150 * SECOND_NS),
            ..row(1, 210, 3_000)
        };
        traffic.row(&again, &owners);
        assert_eq!(taken(&mut traffic, 9), [of("job 1", 3_500)]);
    }

    #[test]
    fn totals_of_earlier_windows_do_not_count() {
        let (owners, mut traffic) = (owners(), Traffic::default());
        traffic.row(&row(1, 1_000, 90_000), &owners);
        assert_eq!(taken(&mut traffic, 9), []);
        traffic.row(&row(1, 1_060, 91_000), &owners);
        assert_eq!(taken(&mut traffic, 9), [of("job 1", 1_000)]);
        // A capture that was started again: fewer packets, from a later time.
        let restarted = ConnectionRow {
            first_ns: Some(1_070 * SECOND_NS),
            ..row(1, 1_120, 2_000)
        };
        traffic.row(&restarted, &owners);
        assert_eq!(taken(&mut traffic, 9), [of("job 1", 2_000)]);
        traffic.forget(2_000 * SECOND_NS);
        assert!(traffic.last.is_empty());
    }

    #[test]
    fn the_largest_owners_have_names_and_no_byte_is_left_out() {
        let (owners, mut traffic) = (owners(), Traffic::default());
        for host in 1..=12 {
            traffic.row(&row(host, 70, 1_000 * u64::from(host)), &owners);
        }
        // Hosts 10 to 12 have no agent.
        let expected = vec![
            of("job 9", 9_000),
            of("job 8", 8_000),
            of(UNKNOWN, 33_000),
            of(OTHER, 28_000),
        ];
        assert_eq!(taken(&mut traffic, 2), expected);
    }
}
