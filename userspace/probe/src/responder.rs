//! Answers to the agents of other hosts: to probes along paths of flows, to probes between hosts, to traces.

use crate::agent::host::Host;
use crate::agent::prober::{Prober, Received};
use crate::payload::Payload;
use crate::peers::receipt_message::{Inquiry, hash};
use crate::peers::receipts::{Receipts, WayBack};
use crate::types::{DatagramKind, Nanos, NicIndex, Outgoing, Refusal};
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
    pub ignored_requests: u64,
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
                ignored_requests: 0,
                too_many: 0,
                unsent: 0,
            },
        }
    }

    /// Answers from now on. Of probes before this it knows nothing.
    pub(crate) fn answer(&mut self, now: Nanos) {
        if !self.is_on {
            self.is_on = true;
            self.receipts.begin_again(now);
        }
    }

    /// A probe of another agent arrived at a NIC: it is answered, with `dscp` unless it has its own, or counted.
    pub(crate) fn question(&mut self, nic: NicIndex, question: &Payload, from: IpAddr, dscp: u8, received: Nanos) {
        if !self.is_on {
            self.counters.ignored_requests += 1;
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
}

impl Prober for Responder {
    fn next_due(&self, _host: &Host) -> Option<Nanos> {
        self.due.iter().map(|due| due.at).min()
    }

    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
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
                let is_own = host.nics.iter().any(|nic| hash(nic.address) == inquiry.address);
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

    /// It was the last answer of [`next_packet`](Self::next_packet).
    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, _host: &mut Host) {
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

    /// A probe of another agent, along the path of a flow or between hosts, or a packet of a trace.
    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let Received { nic, payload, .. } = *received;
        let Some(from) = received.from else {
            return;
        };
        // The answer leaves by the clock of the agent: the NIC's may be another.
        let at = match host.clock_of_others().own {
            true => received.arrival.received,
            false => received.arrival.at(),
        };
        self.question(nic, payload, from, host.settings.first_dscp(), at);
        if matches!(payload.kind, DatagramKind::PeerProbe(_)) && host.has_peers {
            // Its answers take another path than it.
            let tracer = &mut host.tracer;
            tracer.follow_flow(nic, from, payload.port, received.arrival.received);
        }
    }

    fn expire(&mut self, now: Nanos, host: &mut Host) {
        for back in self.receipts.sweep(now) {
            host.tracer.forget_flow(back.nic, back.to, back.port);
        }
    }

    /// What is in flight cannot be measured.
    fn stepped(&mut self, by: Nanos, _host: &mut Host) {
        self.due.clear();
        self.receipts.stepped(by);
    }

    fn reconfigure(&mut self, _now: Nanos, host: &mut Host) {
        self.timeout = host.settings.timeout;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::receipt_message::{Receipt, numbered};
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

    fn responder() -> Responder {
        Responder::new(true, Nanos(500 * MS), Nanos(0))
    }

    #[test]
    fn answers_report_how_long_the_probe_was_held_and_are_bounded() {
        let (mut responder, mut host) = (responder(), Host::single());
        let question = question(DatagramKind::Question, Sequence(4));
        for _ in 0..ANSWERS_PER_SECOND + 5 {
            responder.question(NicIndex(0), &question, from(), 3, Nanos(10 * MS));
        }
        assert_eq!(responder.counters.too_many, 5);
        let answer = responder.next_packet(Nanos(12 * MS), &mut host).unwrap();
        assert_eq!((answer.agent, answer.port, answer.remote), (9, 77, Some(from())));
        assert_eq!(
            (answer.kind, answer.dscp),
            (DatagramKind::Answer { held_ns: 2_000_000 }, 3)
        );
        // The held time grows with a retry.
        responder.refused(&answer, Refusal::Resolving, &mut host);
        responder.due.retain(|due| due.at > Nanos(0));
        let again = responder.next_packet(Nanos(17 * MS), &mut host).unwrap();
        assert_eq!(again.kind, DatagramKind::Answer { held_ns: 7_000_000 });
        responder.refused(&again, Refusal::Down, &mut host);
        assert_eq!((responder.counters.unsent, responder.next_due(&host)), (1, None));
        // One that answers no one counts that.
        let mut none = Responder::new(false, Nanos(0), Nanos(0));
        none.question(NicIndex(0), &question, from(), 0, Nanos(0));
        assert_eq!((none.next_due(&host), none.counters.ignored_requests), (None, 1));
    }

    #[test]
    fn a_probe_of_another_host_learns_what_arrived_of_the_5_tuple_it_asks_about() {
        let (mut responder, mut host) = (responder(), Host::single());
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
            let answer = responder.next_packet(Nanos(2_001 * MS), &mut host).unwrap();
            assert_eq!(answer.dscp, 26);
            if let Some(why) = why {
                responder.refused(&answer, why, &mut host);
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
        let outcome = asks(about("10.0.0.1"), 4, 2, None).unwrap().outcome(7);
        assert_eq!(
            outcome,
            crate::peers::receipt_message::Outcome::Arrived { answered: false }
        );
        let own = asks(about("10.0.0.1"), 3, 8, None).unwrap().outcome(8);
        assert_eq!(own, crate::peers::receipt_message::Outcome::Arrived { answered: true });
    }
}
