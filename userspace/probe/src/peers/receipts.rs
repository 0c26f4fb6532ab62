//! What arrived from the agents of other hosts: the memory behind the receipts in answers.
//!
//! A receipt must never call a probe missing that arrived. So the memory knows since when it is complete, and nothing
//! about the time before: it has begun, or it has forgotten something.

use super::receipt_message::{Arrivals, Receipt, numbers};
use crate::payload::Payload;
use crate::types::{Nanos, NicIndex, Sequence};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// 5-tuples that are remembered; more are answered without a receipt.
const MAX: usize = 16_384;
/// A 5-tuple without a probe for so long is forgotten.
const IDLE: Nanos = Nanos(120_000_000_000);

/// A 5-tuple that other agents probe, and its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WayBack {
    /// The NIC that answers.
    pub(crate) nic: NicIndex,
    /// Where the probes come from.
    pub(crate) to: IpAddr,
    /// UDP source port of the probes and of the answers.
    pub(crate) port: u16,
}

/// What arrived, by agent and number of the 5-tuple.
#[derive(Clone, Debug)]
pub(crate) struct Receipts {
    /// Everything about 5-tuples that are not here is known since then: nothing arrived.
    since: Nanos,
    tuples: BTreeMap<(u64, u32), Remembered>,
    swept: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    back: WayBack,
    since: Nanos,
    arrivals: Arrivals,
    last: Nanos,
}

impl Receipts {
    /// The memory of an agent that starts now.
    pub(crate) const fn new(now: Nanos) -> Self {
        Self {
            since: now,
            tuples: BTreeMap::new(),
            swept: now,
        }
    }

    /// Notes that a probe of another agent arrived.
    pub(crate) fn note(&mut self, probe: &Payload, back: WayBack, received: Nanos) {
        let (tuple, sequence) = numbers(probe.sequence.0);
        let key = (probe.agent, tuple);
        if let Some(known) = self.tuples.get_mut(&key) {
            known.arrivals.note(sequence);
            known.last = known.last.max(received);
            return;
        }
        if self.tuples.len() >= MAX {
            self.since = self.since.max(received);
            return;
        }
        let remembered = Remembered {
            back,
            since: self.since,
            arrivals: Arrivals {
                newest: sequence,
                arrived: 1,
                answered: 0,
            },
            last: received,
        };
        self.tuples.insert(key, remembered);
    }

    /// Notes whether a probe was answered.
    pub(crate) fn answered(&mut self, agent: u64, sequence: Sequence, answered: bool) {
        let (tuple, sequence) = numbers(sequence.0);
        if let Some(known) = self.tuples.get_mut(&(agent, tuple)) {
            known.arrivals.answer(sequence, answered);
        }
    }

    /// What is known about a 5-tuple of an agent.
    pub(crate) fn receipt(&self, agent: u64, tuple: u32, now: Nanos) -> Receipt {
        let known = self.tuples.get(&(agent, tuple));
        let since = known.map_or(self.since, |known| known.since);
        Receipt {
            since_ms: u32::try_from((now - since).0.max(0) / 1_000_000).unwrap_or(u32::MAX),
            arrivals: known.map(|known| known.arrivals),
        }
    }

    /// Frames were lost in this host: nothing is known about the time before.
    pub(crate) fn begin_again(&mut self, now: Nanos) {
        self.since = now;
        for known in self.tuples.values_mut() {
            known.since = now;
        }
    }

    /// Forgets 5-tuples that no one probes any more; returns their ways back.
    pub(crate) fn sweep(&mut self, now: Nanos) -> Vec<WayBack> {
        if now - self.swept < Nanos(IDLE.0 / 4) {
            return Vec::new();
        }
        self.swept = now;
        let idle = self.tuples.extract_if(.., |_, known| now - known.last > IDLE);
        let idle: Vec<Remembered> = idle.map(|(_, known)| known).collect();
        if let Some(last) = idle.iter().map(|known| known.last).max() {
            self.since = self.since.max(last);
        }
        idle.iter().map(|known| known.back).collect()
    }

    /// The clock was set.
    pub(crate) fn stepped(&mut self, by: Nanos) {
        self.since = self.since + by;
        self.swept = self.swept + by;
        for known in self.tuples.values_mut() {
            known.since = known.since + by;
            known.last = known.last + by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::receipt_message::{Inquiry, Outcome, numbered};
    use super::*;
    use crate::types::DatagramKind;

    const SECOND: i64 = 1_000_000_000;
    const BACK: WayBack = WayBack {
        nic: NicIndex(1),
        to: IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 9)),
        port: 50_000,
    };

    fn arrives(receipts: &mut Receipts, (agent, tuple): (u64, u32), sequence: u32, seconds: i64) {
        let probe = Payload {
            agent,
            sequence: Sequence(numbered(tuple, sequence)),
            src: NicIndex(0),
            dst: NicIndex(0),
            sent: Nanos(0),
            port: BACK.port,
            kind: DatagramKind::PeerProbe(Inquiry::default()),
        };
        receipts.note(&probe, BACK, Nanos(seconds * SECOND));
    }

    #[test]
    fn a_receipt_is_of_one_agent_and_knows_since_when_it_counts() {
        let mut receipts = Receipts::new(Nanos(10 * SECOND));
        arrives(&mut receipts, (7, 1), 100, 11);
        arrives(&mut receipts, (7, 1), 102, 12);
        receipts.answered(7, Sequence(numbered(1, 102)), true);
        let receipt = receipts.receipt(7, 1, Nanos(15 * SECOND));
        assert_eq!(receipt.since_ms, 5_000);
        let outcomes = [99, 100, 101, 102, 103].map(|sequence| receipt.outcome(sequence));
        let arrived = |answered| Outcome::Arrived { answered };
        assert_eq!(
            outcomes,
            [
                Outcome::Missing,
                arrived(false),
                Outcome::Missing,
                arrived(true),
                Outcome::Missing
            ]
        );
        // Another agent, and another 5-tuple: nothing arrived.
        for (agent, tuple) in [(8, 1), (7, 2)] {
            let receipt = receipts.receipt(agent, tuple, Nanos(15 * SECOND));
            assert_eq!((receipt.since_ms, receipt.arrivals), (5_000, None));
        }
    }

    #[test]
    fn what_is_forgotten_is_never_called_missing() {
        let mut receipts = Receipts::new(Nanos(0));
        arrives(&mut receipts, (7, 1), 1, 100);
        arrives(&mut receipts, (7, 2), 1, 200);
        assert_eq!(receipts.sweep(Nanos(221 * SECOND)), [BACK]);
        // Of the first one everything after its last arrival is known: nothing came.
        let receipt = receipts.receipt(7, 1, Nanos(221 * SECOND));
        assert_eq!((receipt.since_ms, receipt.arrivals), (121_000, None));
        let kept = receipts.receipt(7, 2, Nanos(221 * SECOND));
        assert_eq!(kept.since_ms, 221_000);
        receipts.begin_again(Nanos(230 * SECOND));
        let receipt = receipts.receipt(7, 2, Nanos(231 * SECOND));
        assert_eq!((receipt.since_ms, receipt.arrivals.is_some()), (1_000, true));
        receipts.stepped(Nanos(-230 * SECOND));
        assert_eq!(receipts.receipt(7, 2, Nanos(3 * SECOND)).since_ms, 3_000);
    }

    #[test]
    fn a_full_memory_knows_nothing_about_those_it_has_no_room_for() {
        let mut receipts = Receipts::new(Nanos(0));
        for tuple in 0..MAX as u32 {
            arrives(&mut receipts, (7, tuple), 0, 10);
        }
        arrives(&mut receipts, (9, 1), 0, 20);
        let receipt = receipts.receipt(9, 1, Nanos(20 * SECOND));
        assert_eq!((receipt.since_ms, receipt.arrivals), (0, None));
        assert_eq!(receipts.receipt(7, 1, Nanos(20 * SECOND)).since_ms, 20_000);
    }
}
