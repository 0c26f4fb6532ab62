//! Probes to NICs of other hosts, whose agents answer each.
//!
//! Two hosts have two clocks, and a probe without an answer may have been lost on either way. So each probe asks the
//! other agent what arrived of a 5-tuple, and its answer carries the last 64 probes of that. A probe asks about one that is
//! not answered yet, whichever NICs of the two hosts that one was between: where a way is dead, another one brings the
//! receipt. What no receipt decides is unknown: an agent that does not run is no fault of the network.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | how a NIC probes NICs of other hosts |
//! | [`list`] | the hosts, and which of their NICs a NIC may probe |
//! | `rotation` | which of these it probes at a time |
//! | `choice` | its peers: those of the list in turn, or those that a controller hands out |
//! | `lanes` | when each NIC probes, and its 5-tuples |
//! | `pending` | probes without an outcome, and what receipts decide |
//! | `outcome` | the outcome of both ways, and their rows |
//! | [`receipt_message`] | what probes ask and answers tell, as bytes |
//! | `receipts` | the other end: what arrived |

mod choice;
mod lanes;
pub mod list;
mod outcome;
mod pending;
pub mod receipt_message;
pub(crate) mod receipts;
mod rotation;
pub(crate) mod settings;

pub use settings::PeerSettings;

use crate::agent::host::Host;
use crate::agent::prober::{Prober, Received};
use crate::payload::Payload;
use crate::types::{DatagramKind, Nanos, NicIndex, Outgoing, Refusal, Sequence};
use choice::Choice;
use lanes::{Lanes, Ports};
use outcome::WayOutcome;
use pending::{PeerProbe, Pending, Probes};
use receipt_message::{Inquiry, hash, numbered, numbers};
use rocescope_diagnose::pinglist::Pinglist;
use std::net::IpAddr;

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
    /// Without an answer, and without a receipt that states which way lost them.
    pub unknown: u64,
    /// Not sent.
    pub unsent: u64,
    /// Without an outcome yet.
    pub in_flight: u64,
    /// Turns that were skipped while the agent could not run; not probes.
    pub skipped: u64,
    /// Answers that came after the outcome, or to nothing that was asked.
    pub late_peer_replies: u64,
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
    counters: PeerCounters,
    /// The pinglist has classes of service, in place of those of the host.
    has_classes: bool,
}

impl Peers {
    /// The probes of the NICs of this host to those of a list.
    pub(crate) fn listed(settings: PeerSettings, host: &Host, now: Nanos) -> Self {
        Self::new(Choice::listed(settings, host.nics.len() as u16), host, now)
    }

    /// None, until there is a pinglist.
    pub(crate) fn unlisted(host: &Host, now: Nanos) -> Self {
        Self::new(Choice::none(host.nics.len()), host, now)
    }

    /// Their source ports take the DSCPs of the host in turn.
    fn new(choice: Choice, host: &Host, now: Nanos) -> Self {
        let ports = Ports {
            seed: host.settings.port_seed,
            dscps: host.settings.dscps.clone(),
        };
        let interval = host.settings.peer_interval;
        Self {
            pending: Probes::new(host.settings.timeout, interval, choice.at_once()),
            lanes: Lanes::new(choice, interval, ports, now),
            counters: PeerCounters::default(),
            has_classes: false,
        }
    }

    /// Probes these NICs from now on, and no others. Probes in flight to those that are left still have their outcomes.
    pub(crate) fn set_pinglist(&mut self, pinglist: &Pinglist, now: Nanos, host: &mut Host) {
        let choice = Choice::handed_out(pinglist, &host.nics);
        self.has_classes = !pinglist.dscps.is_empty();
        self.lanes.set_classes(match self.has_classes {
            true => &pinglist.dscps,
            false => &host.settings.dscps,
        });
        self.pending.expect(choice.at_once());
        self.pending
            .reconfigure(host.settings.timeout, host.settings.peer_interval);
        self.lanes.choose(choice, now, &mut host.tracer, &self.pending);
    }

    pub(crate) fn counters(&self) -> PeerCounters {
        PeerCounters {
            in_flight: self.pending.all.len() as u64,
            ..self.counters
        }
    }

    /// The 5-tuples in use.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = (NicIndex, IpAddr, u16)> {
        self.lanes.current()
    }

    /// Answers may have been lost in this host: a way back without an answer is no loss for probes that are in flight.
    pub(crate) fn invalidate(&mut self) {
        self.pending.all.iter_mut().for_each(|probe| probe.invalidated = true);
    }

    /// A probe has an answer, and it is known when it left, or never will be.
    fn answered(&mut self, probe: &Pending, host: &mut Host) {
        let trip = pending::round_trip(probe);
        if trip.is_some_and(|trip| trip <= host.settings.timeout) {
            self.counters.answered += 1;
            self.finish(probe, WayOutcome::Received, Some(WayOutcome::Received), host);
        } else {
            // One of the ways took too long, and no one knows which.
            self.counters.unknown += 1;
            self.finish(probe, WayOutcome::Unknown, None, host);
        }
    }

    fn finish(&self, probe: &Pending, there: WayOutcome, back: Option<WayOutcome>, host: &mut Host) {
        if let Some(tuple) = self.lanes.tuple(probe.asked.tuple) {
            outcome::add_rows(host, tuple, probe, (there, back));
        }
    }
}

impl Prober for Peers {
    fn next_due(&self, _host: &Host) -> Option<Nanos> {
        self.lanes.next_due().into_iter().chain(self.pending.next_due()).min()
    }

    /// The paths of new 5-tuples are traced from now on, and those of others no more.
    fn next_packet(&mut self, now: Nanos, host: &mut Host) -> Option<Outgoing> {
        if host.is_stopped {
            return None;
        }
        let factor = host.throttle.factor();
        let turn = self.lanes.next(now, factor, &mut host.tracer, &self.pending)?;
        self.counters.probes += 1;
        self.counters.skipped += turn.skipped;
        host.late = host.late.max(now - turn.due);
        let (about, address) = match self.pending.wanting(turn.tuple.peer.host, now, &mut self.lanes) {
            Some((about, address)) => (about, address),
            None => (turn.number, turn.tuple.peer.address),
        };
        let number = numbered(turn.number, turn.sequence);
        let probe = PeerProbe {
            tuple: turn.number,
            about,
            host: turn.tuple.peer.host,
            confirmed: None,
        };
        self.pending.all.insert(number, probe, turn.due, now);
        Some(Outgoing {
            src: turn.tuple.nic,
            dst: turn.tuple.nic,
            remote: Some(turn.tuple.peer.address),
            port: turn.tuple.port,
            dscp: turn.tuple.dscp,
            sequence: Sequence(number),
            kind: DatagramKind::PeerProbe(Inquiry {
                about,
                address: hash(address),
                dscp: turn.tuple.dscp,
            }),
            sent: now,
            agent: host.id,
        })
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos, host: &mut Host) {
        if let Some(probe) = self.pending.all.left(payload.sequence.0, nic_sent) {
            self.answered(&probe, host);
        }
    }

    fn refused(&mut self, outgoing: &Outgoing, why: Refusal, host: &mut Host) {
        host.last_refusal = Some((outgoing.src, why));
        if let Some(probe) = self.pending.all.remove(outgoing.sequence.0) {
            self.counters.unsent += 1;
            self.finish(&probe, WayOutcome::Unsent(why), None, host);
        }
    }

    fn arrived(&mut self, received: &Received<'_>, host: &mut Host) {
        let sequence = received.payload.sequence.0;
        let tuple = self.lanes.tuple(numbers(sequence).0);
        let is_from_there = tuple.map(|tuple| tuple.peer.address) == received.from;
        let probe = self.pending.all.get(sequence).filter(|probe| probe.arrival.is_none());
        let Some((about, sent)) = probe
            .filter(|_| is_from_there)
            .map(|probe| (probe.asked.about, probe.sent))
        else {
            self.counters.late_peer_replies += 1;
            return;
        };
        let complete = self.pending.all.arrived(sequence, received.arrival);
        if let DatagramKind::PeerAnswer {
            receipt: Some(receipt), ..
        } = received.payload.kind
        {
            for lost in self.pending.learn(about, &receipt, sent, received.arrival.received) {
                self.counters.lost_there += 1;
                self.finish(&lost, WayOutcome::Lost, None, host);
            }
        }
        if let Some(probe) = complete {
            self.answered(&probe, host);
        }
    }

    /// Finishes probes that no receipt will come about.
    fn expire(&mut self, now: Nanos, host: &mut Host) {
        for probe in self.pending.expired(now) {
            let (counter, there, back) = match (probe.arrival, probe.asked.confirmed) {
                // When it left is unknown.
                (Some(_), _) => {
                    self.answered(&probe, host);
                    continue;
                }
                (None, Some((_, true))) if probe.invalidated => {
                    (&mut self.counters.unknown, WayOutcome::Received, None)
                }
                (None, Some((_, true))) => {
                    let back = Some(WayOutcome::Lost);
                    (&mut self.counters.lost_back, WayOutcome::Received, back)
                }
                (None, Some((_, false))) => (&mut self.counters.not_answered, WayOutcome::Received, None),
                (None, None) => (&mut self.counters.unknown, WayOutcome::Unknown, None),
            };
            *counter += 1;
            self.finish(&probe, there, back, host);
        }
    }

    fn stepped(&mut self, by: Nanos, _host: &mut Host) {
        self.lanes.stepped(by);
        self.pending.stepped(by);
    }

    fn reconfigure(&mut self, now: Nanos, host: &mut Host) {
        let interval = host.settings.peer_interval;
        self.lanes.reconfigure(interval, now);
        if !self.has_classes {
            self.lanes.set_classes(&host.settings.dscps);
        }
        self.pending.reconfigure(host.settings.timeout, interval);
    }

    /// Waits for no receipt about those in flight: nothing will ask for it.
    fn stop(&mut self, _host: &mut Host) {
        self.lanes.stop();
        self.pending.stop();
    }
}

#[cfg(test)]
mod tests;
