//! What captures saw between the two ends of a transfer that failed: which direction, repeated or unanswered.

use crate::complaints::Complaints;
use crate::read::nccl_failures::{FLUSHED, Failure, Failures};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::{HashMap, HashSet};
use rocescope_model::{ConnectionRow, FlowRow, Text};

/// An error follows its last packet by a timeout of the queue pair; this is one of the longest that is in use.
const AFTER_NS: i64 = 60_000_000_000;
/// NCCL writes whole seconds, and clocks differ.
const BEFORE_NS: i64 = 2_000_000_000;

/// What a capture saw of one direction of a connection, or of a flow where no connections were tracked.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The capture box.
    pub observer: Text,
    /// Source.
    pub src: IpAddr,
    /// Destination.
    pub dst: IpAddr,
    /// Destination queue pair number; `None` if unknown.
    pub dst_qpn: Option<u32>,
    /// First and last packet, in nanoseconds since 1970.
    pub time_ns: (i64, i64),
    /// Packets.
    pub packets: u64,
    /// Retransmitted packets; `None` if unknown.
    pub retransmitted: Option<u64>,
    /// What is known where connections were tracked.
    pub tracked: Option<Tracked>,
}

/// What is known of a direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tracked {
    /// How often its sender repeated packets by its timer.
    pub timeouts: u64,
    /// Packets since the last answer, while the sender repeats them.
    pub unresolved: u64,
    /// Fabric loss upstream of the tap.
    pub lost_upstream: u64,
    /// Fabric loss downstream of the tap.
    pub lost_downstream: u64,
    /// Receiver-not-ready NAKs and fatal NAKs that it carried.
    pub refusals: u64,
    /// Whether packets of the other direction were seen.
    pub is_answered: bool,
}

impl Seen {
    /// Whether it shows why a transfer may fail.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.retransmitted.unwrap_or(0) > 0
            || self.tracked.is_some_and(|tracked| {
                tracked.timeouts + tracked.unresolved + tracked.lost_upstream + tracked.lost_downstream > 0
                    || !tracked.is_answered
                    || tracked.refusals > 0
            })
    }
}

/// A failure, and what captures saw of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// The failure.
    pub failure: Failure,
    /// Directions between its ends at its time, from the reporting end first, those with trouble before others.
    pub seen: Vec<Seen>,
    /// Why nothing was seen of it.
    pub unseen: Option<Unseen>,
}

/// Why captures have nothing of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// The line has no addresses.
    NoAddresses,
    /// The dataset has no captured traffic.
    NoCapture,
    /// No capture saw packets between these addresses.
    OtherAddresses,
    /// Packets between these addresses passed in this time only.
    OtherTime(i64, i64),
}

/// Joins failures with the rows of captures.
#[derive(Debug, Default)]
pub struct Joiner {
    failures: Vec<Failure>,
    pairs: HashSet<(IpAddr, IpAddr)>,
    /// The latest row of each direction of a connection.
    connections: HashMap<(Text, i64, bool), (i64, Seen)>,
    flows: HashMap<(Text, IpAddr, IpAddr, u32), Seen>,
    has_rows: bool,
    complaints: Complaints,
}

impl Joiner {
    /// Of these failures.
    #[must_use]
    pub fn new(failures: Failures) -> Self {
        let ends = failures.all.iter().filter_map(|failure| failure.ends);
        let pairs = ends
            .flat_map(|(local, remote)| [(local, remote), (remote, local)])
            .collect();
        Self {
            failures: failures.all,
            pairs,
            complaints: failures.complaints,
            ..Self::default()
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds a row of `connections`, in any order.
    pub fn connection(&mut self, row: &ConnectionRow) {
        self.has_rows = true;
        if !self.pairs.contains(&(row.src, row.dst)) {
            return;
        }
        let key = (row.observer.clone(), row.connection, &*row.role == "b_to_a");
        if self
            .connections
            .get(&key)
            .is_some_and(|(time_ns, _)| *time_ns > row.time_ns)
        {
            return;
        }
        let seen = Seen {
            observer: row.observer.clone(),
            src: row.src,
            dst: row.dst,
            dst_qpn: row.dst_qpn,
            time_ns: (row.first_ns.unwrap_or(row.last_ns), row.last_ns),
            packets: row.packets,
            retransmitted: Some(row.retransmitted_packets),
            tracked: Some(Tracked {
                timeouts: row.timeouts,
                unresolved: row.unresolved_packets.unwrap_or(0),
                lost_upstream: row.fabric_lost_upstream_packets,
                lost_downstream: row
                    .fabric_lost_downstream_packets
                    .saturating_add(row.unanswered_packets),
                refusals: row.rnr_nak.saturating_add(row.nak_fatal),
                // Services without acknowledgements have none.
                is_answered: row.other_direction_seen != Some(false),
            }),
        };
        self.connections.insert(key, (row.time_ns, seen));
    }

    /// Adds a row of `flows`.
    pub fn flow(&mut self, row: &FlowRow) {
        self.has_rows = true;
        if !self.pairs.contains(&(row.src, row.dst)) {
            return;
        }
        let key = (row.observer.clone(), row.src, row.dst, row.dst_qpn);
        let seen = self.flows.entry(key).or_insert_with(|| Seen {
            observer: row.observer.clone(),
            src: row.src,
            dst: row.dst,
            dst_qpn: Some(row.dst_qpn),
            time_ns: (row.first_ns, row.last_ns),
            packets: 0,
            retransmitted: Some(0),
            tracked: None,
        });
        seen.time_ns = (seen.time_ns.0.min(row.first_ns), seen.time_ns.1.max(row.last_ns));
        seen.packets = seen.packets.saturating_add(row.packets);
        let more = row.retransmitted_packets;
        seen.retransmitted = seen.retransmitted.zip(more).map(|(sum, more)| sum.saturating_add(more));
    }

    /// The failures with what was seen, and what was skipped.
    #[must_use]
    pub fn join(self) -> (Vec<Failed>, Complaints) {
        let connections = self.connections.into_values().map(|(_, seen)| seen);
        let mut by_pair: BTreeMap<(IpAddr, IpAddr), Vec<Seen>> = BTreeMap::new();
        for seen in connections {
            by_pair.entry((seen.src, seen.dst)).or_default().push(seen);
        }
        // Flows say less: they count where connections were not tracked.
        let tracked: BTreeSet<(IpAddr, IpAddr)> = by_pair.keys().copied().collect();
        for (_, seen) in self.flows {
            let pair = (seen.src, seen.dst);
            if !tracked.contains(&pair) && !tracked.contains(&(pair.1, pair.0)) {
                by_pair.entry(pair).or_default().push(seen);
            }
        }
        for all in by_pair.values_mut() {
            all.sort_by_key(|seen| {
                (
                    !seen.is_troubled(),
                    seen.time_ns,
                    seen.dst_qpn,
                    seen.observer.to_string(),
                )
            });
        }
        let has_rows = self.has_rows;
        let failed = self
            .failures
            .into_iter()
            .map(|failure| joined(failure, &by_pair, has_rows));
        let mut failed: Vec<Failed> = failed.collect();
        // What is flushed follows from another failure.
        failed.sort_by_key(|one| (one.failure.status == FLUSHED, one.failure.time_ns));
        (failed, self.complaints)
    }
}

fn joined(failure: Failure, by_pair: &BTreeMap<(IpAddr, IpAddr), Vec<Seen>>, has_rows: bool) -> Failed {
    let (seen, unseen) = match failure.ends {
        None => (Vec::new(), Some(Unseen::NoAddresses)),
        Some(_) if !has_rows => (Vec::new(), Some(Unseen::NoCapture)),
        Some((local, remote)) => {
            let all = [(local, remote), (remote, local)];
            let all = all.iter().filter_map(|pair| by_pair.get(pair)).flatten();
            let is_then = |seen: &&Seen| {
                failure.time_ns.is_none_or(|(first, last)| {
                    seen.time_ns.0 <= last.saturating_add(BEFORE_NS) && seen.time_ns.1.saturating_add(AFTER_NS) >= first
                })
            };
            let seen: Vec<Seen> = all.clone().filter(is_then).cloned().collect();
            let span = all
                .map(|seen| seen.time_ns)
                .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
            let unseen = match (seen.is_empty(), span) {
                (false, _) => None,
                (true, None) => Some(Unseen::OtherAddresses),
                (true, Some((first, last))) => Some(Unseen::OtherTime(first, last)),
            };
            (seen, unseen)
        }
    };
    Failed { failure, seen, unseen }
}

#[cfg(test)]
mod tests {
    use super::Joiner;
    use crate::document::FailureDocument;
    use crate::read::File;
    use crate::read::nccl_failures::read;
    use alloc::string::String;
    use core::net::IpAddr;
    use rocescope_model::{ConnectionRow, FlowRow, Text};

    /// 2026-06-19 06:51:56 in UTC.
    const TIME_NS: i64 = 1_781_851_916_000_000_000;

    fn row(src: &str, dst: &str, packets: u64, retransmitted: u64, is_answered: bool) -> ConnectionRow {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        ConnectionRow {
            observer: Text::from_static("box"),
            connection: 1,
            role: Text::from_static(if src < dst { "a_to_b" } else { "b_to_a" }),
            src: address(src),
            dst: address(dst),
            dst_qpn: Some(200),
            first_ns: Some(TIME_NS - 30_000_000_000),
            last_ns: TIME_NS - 5_000_000_000,
            packets,
            retransmitted_packets: retransmitted,
            timeouts: retransmitted / 4,
            other_direction_seen: Some(is_answered),
            unresolved_packets: Some(retransmitted),
            ..ConnectionRow::default()
        }
    }

    fn reported(ends: &str, connections: &[ConnectionRow], flows: &[FlowRow]) -> String {
        let text = alloc::format!(
            "[2026-06-19 06:51:56] node1:10:11 [1] NCCL WARN NET/IB: Got completion from peer 10.9.0.2<5> with status=12 \
             opcode=0 vendor err 129 (Send){ends} hca mlx5_1\n"
        );
        let name = "nccl.log".into();
        let mut joiner = Joiner::new(read(&[File { name, text }], 0));
        connections.iter().for_each(|row| joiner.connection(row));
        flows.iter().for_each(|row| joiner.flow(row));
        let (failed, complaints) = joiner.join();
        assert!(failed.len() == 1 && complaints.is_empty());
        let text = FailureDocument::of(&failed[0]).text;
        let (_, reported) = text.split_once("06:51:56Z. ").unwrap();
        let check = " Check the GID index, routes and access lists in both directions, and the MTU.";
        reported.trim_end_matches(check).into()
    }

    #[test]
    fn a_failure_has_its_direction_or_the_reason_why_not() {
        const ENDS: &str = " localGid ::ffff:10.0.0.1 remoteGids::ffff:10.0.0.2";
        let (one, two) = ("10.0.0.1", "10.0.0.2");
        let silent = row(one, two, 32, 28, false);
        let late = ConnectionRow {
            first_ns: Some(TIME_NS + 3_600_000_000_000),
            last_ns: TIME_NS + 3_601_000_000_000,
            ..silent.clone()
        };
        let flow = FlowRow {
            src: silent.src,
            dst: silent.dst,
            dst_qpn: 200,
            packets: 7,
            first_ns: TIME_NS,
            last_ns: TIME_NS,
            ..FlowRow::default()
        };
        let unknown = |why: &str| alloc::format!("Unknown what the network did: {why}.");
        let other = [row("10.0.0.3", two, 1, 0, true)];
        let healthy = [row(one, two, 90, 0, true), row(two, one, 90, 0, true)];
        for (reported, expected) in [
            (
                reported(ENDS, &[silent.clone(), row("10.0.0.3", two, 9, 0, true)], &[]),
                "10.0.0.1 > 10.0.0.2, QP 200: 32 packets at box, 28 of them retransmitted, 7 timeouts, 28 sent \
                 since the last answer, nothing of the other direction was seen."
                    .into(),
            ),
            (
                reported(ENDS, &healthy, &[]),
                unknown(
                    "2 directions of connections passed the tap then without repeats, all answered: the failed packets did not \
                     reach it",
                ),
            ),
            (
                reported(ENDS, &healthy[1..], &[]),
                unknown("the tap saw nothing of the reporting end, only of the other end"),
            ),
            (reported(ENDS, &[], &[flow]), unknown("connections were not tracked")),
            (
                reported(ENDS, &other, &[]),
                unknown("no capture of the dataset saw packets between these addresses"),
            ),
            (
                reported(ENDS, &[], &[]),
                unknown("the dataset has no captured connections or flows"),
            ),
            (
                reported("", &healthy, &[]),
                unknown("the line has no GIDs, so no addresses"),
            ),
            (
                reported(ENDS, &[late], &[]),
                unknown(
                    "packets between these addresses were captured from 2026-06-19T07:51:56Z to 2026-06-19T07:51:57Z only; NCCL \
                     writes local times (--nccl-utc-offset)",
                ),
            ),
        ] {
            assert_eq!(reported, expected);
        }
        // The last row of a connection counts, in whatever order they are read.
        let before = ConnectionRow {
            time_ns: -1,
            packets: 1,
            ..silent.clone()
        };
        assert!(reported(ENDS, &[silent, before], &[]).contains(": 32 packets"));
    }
}
