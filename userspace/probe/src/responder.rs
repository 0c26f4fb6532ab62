//! Answers to the agents of other hosts: to probes along paths of flows, to probes between hosts, to traces.

use crate::payload::Payload;
use crate::peers::receipts::{Receipts, WayBack};
use crate::peers::word::{Inquiry, hash};
use crate::types::{DatagramKind, Nanos, Nic, NicIndex, Outgoing, Refusal};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Answers in a second; others are refused and counted.
const ANSWERS_PER_SECOND: u32 = 1000;
/// Pause before a datagram is retried whose next hop has not answered yet.
pub(crate) const RETRY: Nanos = Nanos(5_000_000);

/// What happened to the probes of other agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounters {
    /// Answered.
    pub answered: u64,
    /// Not answered: this agent answers no one.
    pub off: u64,
    /// Not answered: too many in a second.
    pub too_many: u64,
    /// Not answered: the answer did not leave.
    pub unsent: u64,
}

/// The answers that are due.
#[derive(Clone, Debug)]
pub(crate) struct Responder {
    is_on: bool,
    timeout: Nanos,
    due: VecDeque<Due>,
    /// The second of the last answer, and the answers in it.
    second: (i64, u32),
    /// What the probe of the last answer asked.
    last: Option<Inquiry>,
    pub(crate) receipts: Receipts,
    pub(crate) counters: AnswerCounters,
}

/// An answer that is due.
#[derive(Clone, Copy, Debug)]
struct Due {
    outgoing: Outgoing,
    /// What the probe asked, of one between hosts.
    inquiry: Option<Inquiry>,
    /// When the probe arrived.
    received: Nanos,
    at: Nanos,
}

impl Responder {
    pub(crate) const fn new(is_on: bool, timeout: Nanos, now: Nanos) -> Self {
        Self {
            is_on,
            timeout,
            due: VecDeque::new(),
            second: (0, 0),
            last: None,
            receipts: Receipts::new(now),
            counters: AnswerCounters {
                answered: 0,
                off: 0,
                too_many: 0,
                unsent: 0,
            },
        }
    }

    /// A probe of another agent arrived at a NIC: it is answered, with `dscp` unless it has its own, or counted.
    pub(crate) fn question(&mut self, nic: NicIndex, question: &Payload, from: IpAddr, dscp: u8, received: Nanos) {
        if !self.is_on {
            self.counters.off += 1;
            return;
        }
        let inquiry = match question.kind {
            DatagramKind::PeerProbe(inquiry) => Some(inquiry),
            _ => None,
        };
        if inquiry.is_some() {
            let back = WayBack {
                nic,
                to: from,
                port: question.port,
            };
            self.receipts.note(question, back, received);
        }
        let second = received.0.div_euclid(Nanos::SECOND.0);
        if self.second.0 != second {
            self.second = (second, 0);
        }
        if self.second.1 >= ANSWERS_PER_SECOND {
            self.counters.too_many += 1;
            return;
        }
        self.second.1 += 1;
        self.due.push_back(Due {
            outgoing: Outgoing {
                src: nic,
                dst: nic,
                remote: Some(from),
                port: question.port,
                dscp: inquiry.map_or(dscp, |inquiry| inquiry.dscp),
                sequence: question.sequence,
                kind: DatagramKind::Answer { held_ns: 0 },
                sent: received,
                agent: question.agent,
            },
            inquiry,
            received,
            at: Nanos(i64::MIN),
        });
    }

    /// When an answer is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.due.iter().map(|due| due.at).min()
    }

    /// The next answer at `now`, of an agent with these NICs.
    pub(crate) fn next_packet(&mut self, nics: &[Nic], now: Nanos) -> Option<Outgoing> {
        let at = self.due.iter().position(|due| due.at <= now)?;
        let Due {
            outgoing,
            inquiry,
            received,
            ..
        } = self.due.remove(at)?;
        self.counters.answered += 1;
        let held_ns = (now - received).0.clamp(0, u32::MAX.into()) as u32;
        let kind = match inquiry {
            None => DatagramKind::Answer { held_ns },
            Some(inquiry) => {
                self.receipts.answered(outgoing.agent, outgoing.sequence, true);
                let is_own = nics.iter().any(|nic| hash(nic.address) == inquiry.address);
                let receipt = is_own.then(|| self.receipts.receipt(outgoing.agent, inquiry.about, now));
                DatagramKind::PeerAnswer { held_ns, receipt }
            }
        };
        self.last = inquiry;
        Some(Outgoing {
            kind,
            sent: now,
            ..outgoing
        })
    }

    /// The last answer of [`next_packet`](Self::next_packet) was not sent.
    pub(crate) fn refused(&mut self, outgoing: &Outgoing, why: Refusal) {
        let (DatagramKind::Answer { held_ns } | DatagramKind::PeerAnswer { held_ns, .. }) = outgoing.kind else {
            return;
        };
        self.counters.answered -= 1;
        let inquiry = self.last.take();
        if inquiry.is_some() {
            self.receipts.answered(outgoing.agent, outgoing.sequence, false);
        }
        let received = outgoing.sent - Nanos(held_ns.into());
        if why == Refusal::Resolving && outgoing.sent - received < self.timeout {
            self.due.push_back(Due {
                outgoing: *outgoing,
                inquiry,
                received,
                at: outgoing.sent + RETRY,
            });
        } else {
            self.counters.unsent += 1;
        }
    }

    /// Sets another timeout.
    pub(crate) const fn reconfigure(&mut self, timeout: Nanos) {
        self.timeout = timeout;
    }

    /// The clock was set: what is in flight cannot be measured.
    pub(crate) fn stepped(&mut self, by: Nanos) {
        self.due.clear();
        self.receipts.stepped(by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::word::{Receipt, numbered};
    use crate::types::Sequence;

    const MS: i64 = 1_000_000;

    fn from() -> IpAddr {
        "10.0.0.9".parse().unwrap()
    }

    fn question(kind: DatagramKind, sequence: Sequence) -> Payload {
        Payload {
            agent: 9,
            sequence,
            src: NicIndex(0),
            dst: NicIndex(0),
            sent: Nanos(0),
            port: 77,
            kind,
        }
    }

    fn nics() -> Vec<Nic> {
        vec![Nic {
            name: "rail0".into(),
            address: "10.0.0.1".parse().unwrap(),
        }]
    }

    fn responder() -> Responder {
        Responder::new(true, Nanos(500 * MS), Nanos(0))
    }

    #[test]
    fn answers_report_how_long_the_probe_was_held_and_are_bounded() {
        let mut responder = responder();
        let question = question(DatagramKind::Question, Sequence(4));
        for _ in 0..ANSWERS_PER_SECOND + 5 {
            responder.question(NicIndex(0), &question, from(), 3, Nanos(10 * MS));
        }
        assert_eq!(responder.counters.too_many, 5);
        let answer = responder.next_packet(&[], Nanos(12 * MS)).unwrap();
        assert_eq!((answer.agent, answer.port, answer.remote), (9, 77, Some(from())));
        assert_eq!(
            (answer.kind, answer.dscp),
            (DatagramKind::Answer { held_ns: 2_000_000 }, 3)
        );
        // The held time grows with a retry.
        responder.refused(&answer, Refusal::Resolving);
        responder.due.retain(|due| due.at > Nanos(0));
        let again = responder.next_packet(&[], Nanos(17 * MS)).unwrap();
        assert_eq!(again.kind, DatagramKind::Answer { held_ns: 7_000_000 });
        responder.refused(&again, Refusal::Down);
        assert_eq!((responder.counters.unsent, responder.next_due()), (1, None));
        // One that answers no one counts that.
        let mut none = Responder::new(false, Nanos(0), Nanos(0));
        none.question(NicIndex(0), &question, from(), 0, Nanos(0));
        assert_eq!((none.next_due(), none.counters.off), (None, 1));
    }

    #[test]
    fn a_probe_of_another_host_learns_what_arrived_of_the_5_tuple_it_asks_about() {
        let mut responder = responder();
        let about = |address: &str| {
            DatagramKind::PeerProbe(Inquiry {
                about: 3,
                address: hash(address.parse().unwrap()),
                dscp: 26,
            })
        };
        let mut asks = |kind, tuple, sequence, why: Option<Refusal>| {
            let question = question(kind, Sequence(numbered(tuple, sequence)));
            responder.question(NicIndex(0), &question, from(), 0, Nanos(2_000 * MS));
            let answer = responder.next_packet(&nics(), Nanos(2_001 * MS)).unwrap();
            assert_eq!(answer.dscp, 26);
            if let Some(why) = why {
                responder.refused(&answer, why);
            }
            match answer.kind {
                DatagramKind::PeerAnswer { receipt, .. } => receipt,
                _ => None,
            }
        };
        let receipt = |arrivals| Receipt {
            since_ms: 2_001,
            arrivals,
        };
        assert_eq!(asks(about("10.0.0.1"), 4, 0, None), Some(receipt(None)));
        // Of a NIC that is not its own it knows nothing.
        assert_eq!(asks(about("10.0.0.2"), 4, 1, None), None);
        assert!(asks(about("10.0.0.1"), 3, 7, Some(Refusal::Down)).is_some());
        let fate = asks(about("10.0.0.1"), 4, 2, None).unwrap().fate(7);
        assert_eq!(fate, crate::peers::word::Fate::Arrived { answered: false });
        let own = asks(about("10.0.0.1"), 3, 8, None).unwrap().fate(8);
        assert_eq!(own, crate::peers::word::Fate::Arrived { answered: true });
    }
}
