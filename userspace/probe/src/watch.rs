//! Paths that are probed at a steady pace, with the round trip of each probe: what the monitor of collectives compares with
//! its thresholds.
//!
//! The probes and their answers are those of [`flows`](crate::flows).

use crate::agent::host::Host;
use crate::agent::prober::{Prober, Received};
use crate::payload::Payload;
use crate::requests::{Asker, Request};
use crate::types::{Nanos, NicIndex, Outgoing, Refusal};
use rocescope_model::UdpPath;
use std::collections::BTreeMap;

/// A path with fewer unanswered probes may have lost some.
const LOST: u32 = 3;

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The path.
    pub path: UdpPath,
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

/// All paths that are watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    pace: Nanos,
    watches: BTreeMap<UdpPath, Watch>,
    pub(crate) trips: Vec<Trip>,
}

impl Watches {
    /// Watches these paths and no others.
    pub(crate) fn set(&mut self, paths: impl Iterator<Item = UdpPath>, pace: Nanos, host: &Host, now: Nanos) {
        self.pace = pace;
        let before = std::mem::take(&mut self.watches);
        for path in paths {
            let Some(nic) = host.nic(path.src) else {
                continue;
            };
            // Paths take turns.
            let turn = Nanos(pace.0 * (self.watches.len() % 16) as i64 / 16);
            let begun = Watch {
                nic,
                due: now + turn,
                unanswered: None,
            };
            let mut watch = before.get(&path).copied().unwrap_or(begun);
            // The pace may be another one.
            watch.due = watch.due.min(now + pace);
            self.watches.insert(path, watch);
        }
    }

    /// The path of a probe that is not answered yet.
    fn path(host: &Host, sequence: u64) -> Option<UdpPath> {
        let question = host.questions.get(sequence)?;
        match (question.asked, question.arrival) {
            (Asker::Watch(path), None) => Some(path),
            _ => None,
        }
    }

    /// Counts the round trip of a probe, if it is known.
    fn measured(&mut self, probe: Option<Request<Asker>>) {
        if let Some(probe) = probe
            && let (Asker::Watch(path), Some(arrival)) = (probe.asked, probe.arrival)
            && let Some(round_trip) = probe.round_trip()
        {
            let at = arrival.at();
            self.trips.push(Trip { path, at, round_trip });
        }
    }

    /// The paths whose last probes are not answered, with the age of the oldest of these: older than `timeout`, because the
    /// other agent may be late on a busy host.
    pub(crate) fn unanswered(&self, now: Nanos, timeout: Nanos) -> impl Iterator<Item = (UdpPath, Nanos)> {
        self.watches.iter().filter_map(move |(path, watch)| {
            let (first, count) = watch.unanswered?;
            let age = now - first;
            (count >= LOST && age > timeout).then_some((*path, age))
        })
    }
}

impl Prober for Watches {
    fn next_due(&self, _host: &Host) -> Option<Nanos> {
        self.watches.values().map(|watch| watch.due).min()
    }

    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
        let (path, watch) = self.watches.iter_mut().find(|(_, watch)| watch.due <= now)?;
        watch.due = (watch.due + self.pace).max(now);
        let (first, count) = watch.unanswered.unwrap_or((now, 0));
        watch.unanswered = Some((first, count.saturating_add(1)));
        Some(host.ask(Asker::Watch(*path), watch.nic, path.dst, path.port, now))
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos, host: &mut Host) {
        self.measured(host.questions.left(payload.sequence.0, nic_sent));
    }

    /// Nothing is known of its path.
    fn refused(&mut self, outgoing: &Outgoing, _why: Refusal, host: &mut Host) {
        let path = Self::path(host, outgoing.sequence.0);
        host.questions.remove(outgoing.sequence.0);
        if let Some(watch) = path.and_then(|path| self.watches.get_mut(&path)) {
            watch.unanswered = None;
        }
    }

    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let sequence = received.payload.sequence.0;
        if let Some(path) = Self::path(host, sequence).filter(|path| Some(path.dst) == received.from) {
            if let Some(watch) = self.watches.get_mut(&path) {
                watch.unanswered = None;
            }
            self.measured(host.questions.arrived(sequence, received.arrival));
        }
    }

    fn stepped(&mut self, _by: Nanos, _host: &mut Host) {
        for watch in self.watches.values_mut() {
            watch.unanswered = None;
            watch.due = Nanos(i64::MIN);
        }
    }

    fn stop(&mut self, host: &mut Host) {
        self.watches.clear();
        let is_other = |question: &Request<Asker>| !matches!(question.asked, Asker::Watch(_));
        host.questions.retain(is_other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    const MS: i64 = 1_000_000;

    fn path(dst: &str) -> UdpPath {
        UdpPath {
            src: "10.0.0.1".parse().unwrap(),
            dst: dst.parse().unwrap(),
            port: 50_000,
        }
    }

    fn watches(paths: &[UdpPath]) -> (Watches, Host) {
        let (mut watches, host) = (Watches::default(), Host::single());
        watches.set(paths.iter().copied(), Nanos(10 * MS), &host, Nanos(0));
        (watches, host)
    }

    fn answered(of: &mut (Watches, Host), probe: &Outgoing, from: IpAddr, held: i64, at: i64) {
        of.1.answer(&mut of.0, probe, from, [held, at]);
    }

    fn next(of: &mut (Watches, Host), now: i64) -> Option<Outgoing> {
        of.0.next_packet(Nanos(now), &mut of.1)
    }

    #[test]
    fn each_answer_is_a_round_trip_of_the_network() {
        let mut all = watches(&[path("10.0.0.2")]);
        let mut sent = Vec::new();
        while let Some(due) = all.0.next_due(&all.1).filter(|due| due.0 <= 30 * MS) {
            let probe = next(&mut all, due.0).unwrap();
            assert_eq!((probe.port, probe.remote), (50_000, Some(path("10.0.0.2").dst)));
            sent.push((due.0 / MS, probe));
        }
        assert_eq!(sent.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 10, 20, 30]);
        let from = path("10.0.0.2").dst;
        let left = |(watches, host): &mut (Watches, Host), probe: &Outgoing, at| {
            watches.left(&probe.into(), Nanos(at), host);
        };
        left(&mut all, &sent[1].1, 11 * MS);
        answered(&mut all, &sent[1].1, from, MS, 15 * MS);
        answered(&mut all, &sent[1].1, from, MS, 16 * MS);
        answered(&mut all, &sent[2].1, path("10.0.0.3").dst, 0, 21 * MS);
        answered(&mut all, &sent[2].1, from, 0, 22 * MS);
        assert_eq!(all.0.trips.len(), 1, "when it left is unknown");
        left(&mut all, &sent[2].1, 20 * MS);
        let trips: Vec<_> = all.0.trips.iter().map(|trip| trip.round_trip.0 / MS).collect();
        assert_eq!(trips, [3, 2]);
    }

    #[test]
    fn a_path_is_unanswered_when_several_probes_are() {
        let mut all = watches(&[path("10.0.0.2"), path("10.0.0.3")]);
        let mut last = None;
        for at in 0..4 {
            while let Some(probe) = next(&mut all, at * 10 * MS) {
                match probe.remote == Some(path("10.0.0.2").dst) {
                    true => last = Some(probe),
                    false => answered(&mut all, &probe, path("10.0.0.3").dst, 0, at * 10 * MS + 1),
                }
            }
            let found: Vec<_> = all.0.unanswered(Nanos(at * 10 * MS + 5), Nanos(5 * MS)).collect();
            let expected = [(path("10.0.0.2"), Nanos(at * 10 * MS + 5))];
            assert_eq!(found, expected[usize::from(at < 2)..]);
        }
        // One answer ends it, and a probe that the NIC refuses is no evidence.
        answered(&mut all, &last.unwrap(), path("10.0.0.2").dst, 0, 31 * MS);
        assert_eq!(all.0.unanswered(Nanos(40 * MS), Nanos(0)).count(), 0);
        for at in 4..9 {
            while let Some(probe) = next(&mut all, at * 10 * MS) {
                all.0.refused(&probe, Refusal::Full, &mut all.1);
            }
        }
        assert_eq!(all.0.unanswered(Nanos(100 * MS), Nanos(0)).count(), 0);
    }

    #[test]
    fn paths_that_stay_keep_their_turn_and_others_end() {
        let (mut watches, mut host) = watches(&[path("10.0.0.2"), path("10.0.0.3")]);
        let _ = watches.next_packet(Nanos(0), &mut host);
        let strange = UdpPath {
            src: "10.9.9.9".parse().unwrap(),
            ..path("10.0.0.4")
        };
        let paths = [path("10.0.0.2"), strange];
        watches.set(paths.into_iter(), Nanos(10 * MS), &host, Nanos(5 * MS));
        assert_eq!(watches.next_due(&host), Some(Nanos(10 * MS)));
        host.expire(Nanos(600 * MS));
        assert!(host.questions.is_empty());
        watches.stop(&mut host);
        assert_eq!(watches.next_due(&host), None);
    }
}
