//! Probes to NICs of other hosts, whose agents answer each.
//!
//! Two hosts have two clocks, and a probe without an answer may have been lost on either way. So each probe asks the
//! other agent what arrived of a 5-tuple, and its answer carries the last 64 probes of that. A probe asks about one that is
//! not answered yet, whichever NICs of the two hosts that one was between: where a way is dead, another one brings the
//! word. What no word decides is unknown: an agent that does not run is no fault of the network.
//!
//! | module | contents |
//! |---|---|
//! | [`list`] | the hosts, and which of their NICs a NIC may probe |
//! | `rotation` | which of these it probes at a time |
//! | `lanes` | when each NIC probes, and its 5-tuples |
//! | `pending` | probes without an outcome, and what receipts decide |
//! | `outcome` | the outcome of both ways, and their rows |
//! | [`word`] | what probes ask and answers tell, as bytes |
//! | `receipts` | the other end: what arrived |

mod lanes;
pub mod list;
mod outcome;
mod pending;
pub(crate) mod receipts;
mod rotation;
pub mod word;

pub(crate) use outcome::Origin;

use crate::tracer::Tracer;
use crate::types::{DatagramKind, Nanos, NicIndex, Outgoing, Refusal, Sequence};
use lanes::{Lanes, Ports};
use list::Plan;
use outcome::{Finished, Way};
use pending::{Arrived, Pending, Probes};
use rocescope_model::ProbeRow;
use std::net::IpAddr;
use word::{Inquiry, Receipt, hash, numbered, numbers};

/// How a NIC probes NICs of other hosts.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// Whom it may probe.
    pub plan: Plan,
    /// How many peers it has at a time: 4.
    pub at_once: u16,
    /// Source ports for each peer: 4.
    pub ports: u16,
    /// Interval between two probes of a NIC to peers: 400 ms.
    pub interval: Nanos,
    /// For how long it has a peer: 10 minutes.
    pub period: Nanos,
}

/// What happened to probes to other hosts, from the start of the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounters {
    /// Probes that were due.
    pub probes: u64,
    /// Answered in time: both ways work.
    pub answered: u64,
    /// Lost on the way there.
    pub lost_there: u64,
    /// Arrived, and the answer was lost on the way back.
    pub lost_back: u64,
    /// Arrived, and the other agent sent no answer: it had too many, or could not send.
    pub not_answered: u64,
    /// Without an answer, and without a word that states which way lost them.
    pub unknown: u64,
    /// Not sent.
    pub unsent: u64,
    /// Without an outcome yet.
    pub in_flight: u64,
    /// Turns that were skipped while the agent could not run; not probes.
    pub skipped: u64,
    /// Answers that came after the outcome, or to nothing that was asked.
    pub strange: u64,
}

impl PeerCounters {
    /// Whether every probe is counted in exactly one outcome.
    #[must_use]
    pub const fn is_balanced(&self) -> bool {
        let lost = self.lost_there + self.lost_back + self.not_answered;
        self.probes == self.answered + lost + self.unknown + self.unsent + self.in_flight
    }
}

/// The probes of all NICs of a host to other hosts.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    lanes: Lanes,
    pending: Probes,
    finished: Vec<Finished>,
    counters: PeerCounters,
}

/// Answers that arrive: of which probe, from where, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAnswer {
    pub(crate) sequence: Sequence,
    pub(crate) from: IpAddr,
    /// How long the other agent held the probe.
    pub(crate) held: Nanos,
    pub(crate) receipt: Option<Receipt>,
    /// When it arrived, on the clock of the NIC if that is known.
    pub(crate) nic_received: Option<Nanos>,
    /// When the agent received it.
    pub(crate) received: Nanos,
}

impl Peers {
    /// Creates the probes of this number of NICs. `seed` is that of their source ports; the ports take these DSCPs in turn.
    pub(crate) fn new(
        settings: PeerSettings,
        nics: u16,
        (seed, dscps): (u64, &[u8]),
        timeout: Nanos,
        now: Nanos,
    ) -> Self {
        let (interval, at_once) = (settings.interval, settings.at_once);
        let ports = Ports {
            each: settings.ports.max(1),
            seed,
            dscps: dscps.to_vec(),
        };
        Self {
            lanes: Lanes::new(settings, nics, ports, now),
            pending: Probes::new(timeout, interval, at_once),
            finished: Vec::new(),
            counters: PeerCounters::default(),
        }
    }

    /// Sets other times.
    pub(crate) fn reconfigure(&mut self, interval: Nanos, timeout: Nanos, now: Nanos) {
        self.lanes.reconfigure(interval, now);
        self.pending.reconfigure(timeout, interval);
    }

    pub(crate) fn counters(&self) -> PeerCounters {
        PeerCounters {
            in_flight: self.pending.len() as u64,
            ..self.counters
        }
    }

    /// When something is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.lanes.next_due().into_iter().chain(self.pending.next_due()).min()
    }

    /// Sends no more probes, and waits for no word about those in flight: nothing will ask for it.
    pub(crate) fn stop(&mut self) {
        self.lanes.stop();
        self.pending.stop();
    }

    /// The next probe at `now`, of an agent with this number, and how late it is. `factor` multiplies the interval to the
    /// next one. The paths of new 5-tuples are traced from now on, and those of others no more.
    pub(crate) fn next_packet(
        &mut self,
        agent: u64,
        now: Nanos,
        factor: u32,
        tracer: &mut Tracer,
    ) -> Option<(Outgoing, Nanos)> {
        let turn = self.lanes.next(now, factor, tracer, &self.pending)?;
        self.counters.probes += 1;
        self.counters.skipped += turn.skipped;
        let (about, address) = match self.pending.wanting(turn.tuple.peer.host, now, &mut self.lanes) {
            Some((about, address)) => (about, address),
            None => (turn.number, turn.tuple.peer.address),
        };
        self.pending.push(Pending {
            tuple: turn.number,
            sequence: turn.sequence,
            about,
            host: turn.tuple.peer.host,
            due: turn.due,
            sent: now,
            nic_sent: None,
            arrived: None,
            word: None,
            torn: false,
        });
        let outgoing = Outgoing {
            src: turn.tuple.nic,
            dst: turn.tuple.nic,
            remote: Some(turn.tuple.peer.address),
            port: turn.tuple.port,
            dscp: turn.tuple.dscp,
            sequence: Sequence(numbered(turn.number, turn.sequence)),
            kind: DatagramKind::PeerProbe(Inquiry {
                about,
                address: hash(address),
                dscp: turn.tuple.dscp,
            }),
            sent: now,
            agent,
        };
        Some((outgoing, now - turn.due))
    }

    /// A probe was not sent.
    pub(crate) fn refused(&mut self, sequence: Sequence, why: Refusal) {
        if let Some(probe) = self.pending.take(numbers(sequence.0)) {
            self.counters.unsent += 1;
            self.finish(&probe, Way::Unsent(why), None);
        }
    }

    /// A probe left.
    pub(crate) fn left(&mut self, sequence: Sequence, nic_sent: Nanos) {
        let Some(probe) = self.pending.get_mut(numbers(sequence.0)) else {
            return;
        };
        probe.nic_sent = Some(nic_sent);
        if probe.arrived.is_some() {
            self.complete(numbers(sequence.0));
        }
    }

    /// An answer arrived.
    pub(crate) fn answered(&mut self, answer: &PeerAnswer) {
        let number = numbers(answer.sequence.0);
        let is_from_there = |tuple: &lanes::Tuple| tuple.peer.address == answer.from;
        let Some(probe) = self.pending.get_mut(number).filter(|probe| probe.arrived.is_none()) else {
            self.counters.strange += 1;
            return;
        };
        if !self.lanes.tuple(number.0).is_some_and(is_from_there) {
            self.counters.strange += 1;
            return;
        }
        probe.arrived = Some(Arrived {
            nic_received: answer.nic_received,
            received: answer.received,
            held: answer.held,
        });
        let (about, sent, is_stamped) = (probe.about, probe.sent, probe.nic_sent.is_some());
        if let Some(receipt) = answer.receipt {
            for lost in self.pending.learn(about, &receipt, sent, answer.received) {
                self.counters.lost_there += 1;
                self.finish(&lost, Way::Lost, None);
            }
        }
        if is_stamped {
            self.complete(number);
        }
    }

    /// Finishes a probe whose answer arrived.
    fn complete(&mut self, number: (u32, u32)) {
        if let Some(probe) = self.pending.take(number) {
            self.has_answer(&probe);
        }
    }

    fn has_answer(&mut self, probe: &Pending) {
        let trip = probe.round_trip();
        if trip.is_some_and(|trip| trip <= self.pending.timeout()) {
            self.counters.answered += 1;
            self.finish(probe, Way::Received, Some(Way::Received));
        } else {
            // One of the ways took too long, and no one knows which.
            self.counters.unknown += 1;
            self.finish(probe, Way::Unknown, None);
        }
    }

    fn finish(&mut self, probe: &Pending, there: Way, back: Option<Way>) {
        if let Some(tuple) = self.lanes.tuple(probe.tuple) {
            self.finished.push(Finished::new(tuple, probe, there, back));
        }
    }

    /// Finishes probes that no word will come about.
    pub(crate) fn expire(&mut self, now: Nanos) {
        for probe in self.pending.expired(now) {
            match (probe.arrived, probe.word) {
                // When it left is unknown.
                (Some(_), _) => self.has_answer(&probe),
                (None, Some((_, true))) if probe.torn => {
                    self.counters.unknown += 1;
                    self.finish(&probe, Way::Received, None);
                }
                (None, Some((_, true))) => {
                    self.counters.lost_back += 1;
                    self.finish(&probe, Way::Received, Some(Way::Lost));
                }
                (None, Some((_, false))) => {
                    self.counters.not_answered += 1;
                    self.finish(&probe, Way::Received, None);
                }
                (None, None) => {
                    self.counters.unknown += 1;
                    self.finish(&probe, Way::Unknown, None);
                }
            }
        }
    }

    /// The rows of the probes that have an outcome since the last call.
    pub(crate) fn rows(&mut self, origin: &Origin<'_>, rows: &mut Vec<ProbeRow>) {
        for finished in self.finished.drain(..) {
            finished.rows(origin, rows);
        }
    }

    /// Answers may have been lost in this host: a way back without an answer is no loss for probes that are in flight.
    pub(crate) fn tear(&mut self) {
        self.pending.tear();
    }

    /// The clock was set.
    pub(crate) fn stepped(&mut self, by: Nanos) {
        self.lanes.stepped(by);
        self.pending.stepped(by);
    }

    /// The 5-tuples in use.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = (NicIndex, IpAddr, u16)> {
        self.lanes.current()
    }
}

#[cfg(test)]
mod tests;
