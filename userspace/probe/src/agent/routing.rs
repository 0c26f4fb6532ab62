//! Which prober an event concerns.

use super::Agent;
use super::host::Host;
use super::prober::{Prober, Received};
use super::traces::Traces;
use crate::payload::Payload;
use crate::requests::{Arrival, Asker};
use crate::types::{DatagramKind, Event, Nanos, Outgoing, Presence, Refusal, Sequence};

/// A prober of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Responder,
    Flows,
    Watches,
    Local,
    Peers,
    Traces,
}

impl Agent {
    /// Records that a datagram was not sent.
    pub fn refused(&mut self, outgoing: &Outgoing, why: Refusal) {
        let owner = match outgoing.kind {
            DatagramKind::Probe => Some(Owner::Local),
            DatagramKind::Trace { .. } => Some(Owner::Traces),
            DatagramKind::Question => self.asker(outgoing.sequence),
            DatagramKind::PeerProbe(_) => Some(Owner::Peers),
            DatagramKind::Answer { .. } | DatagramKind::PeerAnswer { .. } => Some(Owner::Responder),
        };
        if let Some((prober, host)) = owner.and_then(|owner| self.prober(owner)) {
            prober.refused(outgoing, why, host);
        }
    }

    /// Handles an event.
    pub fn handle(&mut self, event: &Event) {
        match event {
            Event::Sent { payload, nic_sent } => self.left(payload, *nic_sent),
            Event::Refused { outgoing, why } => self.refused(outgoing, *why),
            Event::Arrived {
                nic,
                payload,
                from,
                intact,
                nic_received,
                received,
            } => {
                let held_ns = match payload.kind {
                    DatagramKind::Answer { held_ns } | DatagramKind::PeerAnswer { held_ns, .. } => held_ns,
                    _ => 0,
                };
                self.arrived(&Received {
                    nic: *nic,
                    payload,
                    from: *from,
                    arrival: Arrival {
                        intact: *intact,
                        nic_received: *nic_received,
                        received: *received,
                        held: Nanos(held_ns.into()),
                    },
                });
            }
            Event::Stranger => self.host.unknown(true),
            Event::Unreadable => self.host.unknown(false),
            Event::Answered { answer, at } => Traces::answered(answer, *at, &mut self.host),
            Event::Gone { nic } => self.presences.push((*nic, Presence::Gone)),
            Event::Back { nic, address } => self.back(*nic, *address),
            Event::Stepped { by } => self.stepped(*by),
        }
    }

    fn left(&mut self, payload: &Payload, nic_sent: Nanos) {
        if payload.agent != self.host.id {
            return;
        }
        let owner = match payload.kind {
            DatagramKind::Probe => Some(Owner::Local),
            DatagramKind::PeerProbe(_) => Some(Owner::Peers),
            DatagramKind::Question => self.asker(payload.sequence),
            _ => None,
        };
        if let Some((prober, host)) = owner.and_then(|owner| self.prober(owner)) {
            prober.left(payload, nic_sent, host);
        }
    }

    fn arrived(&mut self, received: &Received<'_>) {
        let Received { payload, arrival, .. } = *received;
        let is_own = payload.agent == self.host.id;
        let is_of_host = arrival.intact && received.from.is_some();
        let owner = match payload.kind {
            DatagramKind::Question | DatagramKind::PeerProbe(_) if is_of_host => Owner::Responder,
            DatagramKind::Trace { .. } if is_of_host && !is_own => Owner::Responder,
            DatagramKind::PeerAnswer { .. } if is_of_host && is_own => Owner::Peers,
            DatagramKind::Answer { .. } if is_of_host && is_own => match self.asker(payload.sequence) {
                Some(owner) => owner,
                None => return,
            },
            // A damaged payload may contain anything; it counts if it matches something in flight.
            _ if !is_own || payload.dst != received.nic => return self.host.unknown(arrival.intact),
            DatagramKind::Trace { .. } => Owner::Traces,
            _ => Owner::Local,
        };
        match self.prober(owner) {
            Some((prober, host)) => prober.arrived(received, host),
            None => self.host.unknown(true),
        }
    }

    /// Who asked the question of this number, if it is in flight.
    fn asker(&self, sequence: Sequence) -> Option<Owner> {
        let question = self.host.questions.get(sequence.0)?;
        Some(match question.asked {
            Asker::Flow(_) => Owner::Flows,
            Asker::Watch(_) => Owner::Watches,
            Asker::Trace { .. } => Owner::Traces,
        })
    }

    /// The prober, if this agent has it.
    fn prober(&mut self, owner: Owner) -> Option<(&mut dyn Prober, &mut Host)> {
        let prober: &mut dyn Prober = match owner {
            Owner::Responder => &mut self.responder,
            Owner::Flows => &mut self.flows,
            Owner::Watches => &mut self.watches,
            Owner::Local => &mut self.local,
            Owner::Peers => self.peers.as_mut()?,
            Owner::Traces => &mut self.traces,
        };
        Some((prober, &mut self.host))
    }
}
