//! Paths that are probed at a steady pace, with the round trip of each probe: what the monitor of collectives compares with
//! its thresholds.
//!
//! The probes and their answers are those of [`flows`](crate::flows); their sequence numbers have the highest bit.

use crate::types::{DatagramKind, Nanos, Nic, NicIndex, Outgoing, Sequence};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Distinguishes these probes from those of flows.
const MARK: u64 = 1 << 63;
/// A path with fewer unanswered probes may have lost some.
const LOST: u32 = 3;

/// A path to the agent of another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedPath {
    /// Address of a NIC of this host.
    pub src: IpAddr,
    /// Address of a NIC of the other host.
    pub dst: IpAddr,
    /// UDP source port.
    pub port: u16,
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The path.
    pub path: WatchedPath,
    /// When its answer arrived.
    pub at: Nanos,
    /// How long it took, without the time that the other agent held the probe.
    pub round_trip: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    nic: NicIndex,
    due: Nanos,
    /// When the first of the last probes left that are all unanswered, and how many those are.
    unanswered: Option<(Nanos, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct InFlight {
    path: WatchedPath,
    sent: Nanos,
    nic_sent: Option<Nanos>,
    /// When its answer arrived, and how long the other end held it.
    arrived: Option<(Nanos, Nanos)>,
}

/// All paths that are watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    pace: Nanos,
    watches: BTreeMap<WatchedPath, Watch>,
    in_flight: BTreeMap<u64, InFlight>,
    next_sequence: u64,
    pub(crate) trips: Vec<Trip>,
}

impl Watches {
    /// Whether a datagram is a probe of these.
    pub(crate) const fn owns(outgoing: &Outgoing) -> bool {
        matches!(outgoing.kind, DatagramKind::Question) && Self::numbers(outgoing.sequence)
    }

    /// Whether a sequence number is one of these.
    pub(crate) const fn numbers(sequence: Sequence) -> bool {
        sequence.0 & MARK != 0
    }

    /// Watches these paths and no others.
    pub(crate) fn set(&mut self, paths: impl Iterator<Item = WatchedPath>, pace: Nanos, nics: &[Nic], now: Nanos) {
        self.pace = pace;
        let before = std::mem::take(&mut self.watches);
        for path in paths {
            let Some(nic) = nics.iter().position(|nic| nic.address == path.src) else {
                continue;
            };
            // Paths take turns.
            let turn = Nanos(pace.0 * (self.watches.len() % 16) as i64 / 16);
            let begun = Watch {
                nic: NicIndex(nic as u16),
                due: now + turn,
                unanswered: None,
            };
            let mut watch = before.get(&path).copied().unwrap_or(begun);
            // The pace may be another one.
            watch.due = watch.due.min(now + pace);
            self.watches.insert(path, watch);
        }
    }

    pub(crate) fn stop(&mut self) {
        self.watches.clear();
        self.in_flight.clear();
    }

    /// When the next probe is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.watches.values().map(|watch| watch.due).min()
    }

    /// The next probe at `now`, of an agent with this number.
    pub(crate) fn next_packet(&mut self, agent: u64, now: Nanos) -> Option<Outgoing> {
        let (path, watch) = self.watches.iter_mut().find(|(_, watch)| watch.due <= now)?;
        watch.due = (watch.due + self.pace).max(now);
        let (first, count) = watch.unanswered.unwrap_or((now, 0));
        watch.unanswered = Some((first, count.saturating_add(1)));
        let sequence = MARK | self.next_sequence;
        self.next_sequence = (self.next_sequence + 1) & !MARK;
        let probe = InFlight {
            path: *path,
            sent: now,
            nic_sent: None,
            arrived: None,
        };
        self.in_flight.insert(sequence, probe);
        Some(Outgoing {
            src: watch.nic,
            dst: watch.nic,
            remote: Some(path.dst),
            port: path.port,
            dscp: 0,
            sequence: Sequence(sequence),
            kind: DatagramKind::Question,
            sent: now,
            agent,
        })
    }

    /// A probe was not sent: nothing is known of its path.
    pub(crate) fn refused(&mut self, sequence: Sequence) {
        let probe = self.in_flight.remove(&sequence.0);
        if let Some(watch) = probe.and_then(|probe| self.watches.get_mut(&probe.path)) {
            watch.unanswered = None;
        }
    }

    /// A probe left.
    pub(crate) fn left(&mut self, sequence: Sequence, nic_sent: Nanos) {
        if let Some(probe) = self.in_flight.get_mut(&sequence.0) {
            probe.nic_sent = Some(nic_sent);
        }
        self.complete(sequence);
    }

    /// An answer arrived.
    pub(crate) fn answered(&mut self, sequence: Sequence, from: IpAddr, held: Nanos, at: Nanos) {
        let Some(probe) = self.in_flight.get_mut(&sequence.0) else {
            return;
        };
        if probe.path.dst != from || probe.arrived.is_some() {
            return;
        }
        probe.arrived = Some((at, held));
        if let Some(watch) = self.watches.get_mut(&probe.path) {
            watch.unanswered = None;
        }
        self.complete(sequence);
    }

    /// Counts a probe of which both times are known, in whichever order they came.
    fn complete(&mut self, sequence: Sequence) {
        let probe = self.in_flight.get(&sequence.0).copied();
        if let Some((probe, sent, (at, held))) = probe.and_then(|probe| Some((probe, probe.nic_sent?, probe.arrived?)))
        {
            self.in_flight.remove(&sequence.0);
            self.trips.push(Trip {
                path: probe.path,
                at,
                round_trip: at - sent - held,
            });
        }
    }

    /// The paths whose last probes are not answered, with the age of the oldest of these: older than `timeout`, because the
    /// other agent may be late on a busy host.
    pub(crate) fn unanswered(&self, now: Nanos, timeout: Nanos) -> impl Iterator<Item = (WatchedPath, Nanos)> {
        self.watches.iter().filter_map(move |(path, watch)| {
            let (first, count) = watch.unanswered?;
            let age = now - first;
            (count >= LOST && age > timeout).then_some((*path, age))
        })
    }

    /// Forgets probes that no answer will come to, or whose departure the NIC does not tell.
    pub(crate) fn expire(&mut self, now: Nanos, timeout: Nanos) {
        self.in_flight.retain(|_, probe| now - probe.sent <= timeout);
    }

    /// The clock was set: what is in flight cannot be measured.
    pub(crate) fn stepped(&mut self) {
        self.in_flight.clear();
        for watch in self.watches.values_mut() {
            watch.unanswered = None;
            watch.due = Nanos(i64::MIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn path(dst: &str) -> WatchedPath {
        WatchedPath {
            src: "10.0.0.1".parse().unwrap(),
            dst: dst.parse().unwrap(),
            port: 50_000,
        }
    }

    fn watches(paths: &[WatchedPath]) -> Watches {
        let nics = [Nic {
            name: "rail0".into(),
            address: "10.0.0.1".parse().unwrap(),
        }];
        let mut watches = Watches::default();
        watches.set(paths.iter().copied(), Nanos(10 * MS), &nics, Nanos(0));
        watches
    }

    #[test]
    fn each_answer_is_a_round_trip_of_the_network() {
        let mut watches = watches(&[path("10.0.0.2")]);
        let mut sent = Vec::new();
        while let Some(due) = watches.next_due().filter(|due| due.0 <= 30 * MS) {
            let probe = watches.next_packet(7, due).unwrap();
            assert!(Watches::owns(&probe));
            assert_eq!((probe.port, probe.remote), (50_000, Some(path("10.0.0.2").dst)));
            sent.push((due.0 / MS, probe.sequence));
        }
        assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 10, 20, 30]);
        let from = path("10.0.0.2").dst;
        watches.left(sent[1].1, Nanos(11 * MS));
        watches.answered(sent[1].1, from, Nanos(MS), Nanos(15 * MS));
        watches.answered(sent[1].1, from, Nanos(MS), Nanos(16 * MS));
        watches.answered(sent[2].1, path("10.0.0.3").dst, Nanos(0), Nanos(21 * MS));
        watches.answered(sent[2].1, from, Nanos(0), Nanos(22 * MS));
        assert_eq!(watches.trips.len(), 1, "when it left is unknown");
        watches.left(sent[2].1, Nanos(20 * MS));
        let trips: Vec<_> = watches.trips.iter().map(|trip| trip.round_trip.0 / MS).collect();
        assert_eq!(trips, [3, 2]);
    }

    #[test]
    fn a_path_is_unanswered_when_several_probes_are() {
        let mut watches = watches(&[path("10.0.0.2"), path("10.0.0.3")]);
        let mut last = None;
        for at in 0..4 {
            while let Some(probe) = watches.next_packet(7, Nanos(at * 10 * MS)) {
                match probe.remote == Some(path("10.0.0.2").dst) {
                    true => last = Some(probe.sequence),
                    false => watches.answered(probe.sequence, path("10.0.0.3").dst, Nanos(0), Nanos(at * 10 * MS + 1)),
                }
            }
            let found: Vec<_> = watches.unanswered(Nanos(at * 10 * MS + 5), Nanos(5 * MS)).collect();
            let expected = [(path("10.0.0.2"), Nanos(at * 10 * MS + 5))];
            assert_eq!(found, expected[usize::from(at < 2)..]);
        }
        // One answer ends it, and a probe that the NIC refuses is no evidence.
        watches.answered(last.unwrap(), path("10.0.0.2").dst, Nanos(0), Nanos(31 * MS));
        assert_eq!(watches.unanswered(Nanos(40 * MS), Nanos(0)).count(), 0);
        for at in 4..9 {
            while let Some(probe) = watches.next_packet(7, Nanos(at * 10 * MS)) {
                watches.refused(probe.sequence);
            }
        }
        assert_eq!(watches.unanswered(Nanos(100 * MS), Nanos(0)).count(), 0);
    }

    #[test]
    fn paths_that_stay_keep_their_turn_and_others_end() {
        let mut watches = watches(&[path("10.0.0.2"), path("10.0.0.3")]);
        let _ = watches.next_packet(7, Nanos(0));
        let strange = WatchedPath {
            src: "10.9.9.9".parse().unwrap(),
            ..path("10.0.0.4")
        };
        let nics = [Nic {
            name: "rail0".into(),
            address: "10.0.0.1".parse().unwrap(),
        }];
        let paths = [path("10.0.0.2"), strange];
        watches.set(paths.into_iter(), Nanos(10 * MS), &nics, Nanos(5 * MS));
        assert_eq!(watches.next_due(), Some(Nanos(10 * MS)));
        watches.expire(Nanos(600 * MS), Nanos(500 * MS));
        assert!(watches.in_flight.is_empty());
        watches.stop();
        assert_eq!(watches.next_due(), None);
    }
}
