//! Traffic by owner in a window of time: what rows of connections have [more](crate::growth) than those before them is of
//! the owner of its sender.

use super::{Answer, Owners};
use crate::growth::Sums;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use rocescope_model::ConnectionRow;

/// What no agent reported.
pub const UNKNOWN: &str = "unknown";
/// What may be of several.
pub const AMBIGUOUS: &str = "ambiguous";
/// What has no name of its own.
pub const OTHER: &str = "other";

/// Owners whose sums are kept in a window.
const MAX_OWNERS: usize = 10_000;

/// Traffic by owner since the last [`take`](Self::take).
#[derive(Debug, Default)]
pub struct Traffic(BTreeMap<String, Sums>);

impl Traffic {
    /// Adds what the sender of a row sent.
    pub fn add(&mut self, row: &ConnectionRow, grown: Sums, owners: &Owners) {
        if grown == Sums::default() {
            return;
        }
        let name = match owners.sender(row) {
            Answer::Unknown => String::from(UNKNOWN),
            Answer::Ambiguous => String::from(AMBIGUOUS),
            Answer::Owner(owner) => owner.group(),
        };
        let has_room = self.0.len() < MAX_OWNERS || self.0.contains_key(&name);
        let name = if has_room { name } else { String::from(OTHER) };
        self.0.entry(name).or_default().add(grown);
    }

    /// The sums of the window that ends, and begins the next: of the `max` owners with the most payload, of all others
    /// together, and of what has no owner.
    pub fn take(&mut self, max: usize) -> Vec<(String, Sums)> {
        let mut window = core::mem::take(&mut self.0);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::Growth;
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

    fn of(name: &str, bytes: u64) -> (String, u64) {
        (name.into(), bytes)
    }

    #[test]
    fn a_window_has_what_rows_grew_by() {
        let (owners, mut growth, mut traffic) = (owners(), Growth::default(), Traffic::default());
        let mut add = |traffic: &mut Traffic, row: &ConnectionRow| {
            let grown = growth.row(row).unwrap_or_default();
            traffic.add(row, grown, &owners);
        };
        add(&mut traffic, &row(1, 70, 4_000));
        let sums = Sums {
            payload_bytes: 4_000,
            fabric_lost_packets: 2,
            retransmitted_packets: 4,
        };
        assert_eq!(traffic.take(9), [("job 1".into(), sums)]);
        assert_eq!(traffic.take(9), []);
        add(&mut traffic, &row(1, 130, 9_000));
        // A row that comes a second time adds nothing.
        add(&mut traffic, &row(1, 130, 9_000));
        let taken: Vec<_> = traffic
            .take(9)
            .into_iter()
            .map(|(name, sums)| (name, sums.payload_bytes))
            .collect();
        assert_eq!(taken, [of("job 1", 5_000)]);
    }

    #[test]
    fn the_largest_owners_have_names_and_no_byte_is_left_out() {
        let (owners, mut traffic) = (owners(), Traffic::default());
        for host in 1..=12 {
            let payload_bytes = 1_000 * u64::from(host);
            let grown = Sums {
                payload_bytes,
                ..Sums::default()
            };
            traffic.add(&row(host, 70, payload_bytes), grown, &owners);
        }
        // Hosts 10 to 12 have no agent.
        let expected = vec![
            of("job 9", 9_000),
            of("job 8", 8_000),
            of(UNKNOWN, 33_000),
            of(OTHER, 28_000),
        ];
        let taken: Vec<_> = traffic
            .take(2)
            .into_iter()
            .map(|(name, sums)| (name, sums.payload_bytes))
            .collect();
        assert_eq!(taken, expected);
    }
}
