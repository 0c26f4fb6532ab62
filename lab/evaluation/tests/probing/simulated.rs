//! A host of a simulated fabric. Time passes only in [`Backend::wait`].

use rocescope_fabric::random::Draws;
use rocescope_fabric::{Clocks, Fabric, FiveTuple, Outcome};
use rocescope_probe::backend::{Backend, Error, Waited};
use rocescope_probe::icmp::Answer;
use rocescope_probe::payload::Payload;
use rocescope_probe::types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Refusal};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One host of a [`Fabric`].
#[derive(Debug)]
pub(crate) struct Simulated {
    fabric: Fabric,
    host: u32,
    nics: Vec<Nic>,
    draws: Draws,
    now: Nanos,
    /// Future events by time; the number distinguishes simultaneous events.
    ahead: BTreeMap<(Nanos, u64), Event>,
    count: u64,
}

impl Simulated {
    /// Creates the backend for the NICs of `host`, from `now` on. Equal seeds give equal results.
    pub(crate) fn new(fabric: Fabric, host: u32, now: Nanos, seed: u64) -> Self {
        let nic = |index| {
            let nic = fabric.topology.nic(host, index);
            Nic {
                name: fabric.topology.nic_name(nic),
                address: fabric.topology.nic_address(nic),
            }
        };
        Self {
            nics: (0..fabric.topology.rails().nics).map(nic).collect(),
            fabric,
            host,
            draws: Draws::new(seed),
            now,
            ahead: BTreeMap::new(),
            count: 0,
        }
    }

    /// The fabric; its faults may be changed between two waits.
    pub(crate) fn fabric(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// The 5-tuple of a datagram.
    pub(crate) fn tuple(&self, src: NicIndex, dst: NicIndex, port: u16) -> FiveTuple {
        let nic = |index: NicIndex| self.fabric.topology.nic(self.host, index.0.into());
        FiveTuple {
            src: nic(src),
            dst: nic(dst),
            udp_src_port: port,
            udp_dst_port: rocescope_model::ROCE_UDP_PORT,
        }
    }

    fn happens(&mut self, at: i64, event: Event) {
        self.ahead.insert((Nanos(at), self.count), event);
        self.count += 1;
    }

    fn probe(&mut self, outgoing: &Outgoing, tuple: FiveTuple) -> Result<(), Refusal> {
        let sent = outgoing.sent.0;
        let passage = self.fabric.send(tuple, sent, &mut self.draws);
        if passage.outcome == Outcome::Unsent {
            return Err(Refusal::NoRoute);
        }
        let payload = Payload::from(outgoing);
        if let Some(nic_sent) = passage.nic_send_ns {
            let nic_sent = Nanos(nic_sent);
            self.happens(sent, Event::Sent { payload, nic_sent });
        }
        let is_there = matches!(passage.outcome, Outcome::Received | Outcome::Corrupt);
        if let (true, Some(received)) = (is_there, passage.app_receive_ns) {
            let arrived = Event::Arrived {
                nic: outgoing.dst,
                payload,
                from: None,
                intact: passage.outcome == Outcome::Received,
                nic_received: passage.nic_receive_ns.map(Nanos),
                received: Nanos(received),
            };
            self.happens(received, arrived);
        }
        Ok(())
    }

    fn trace(&mut self, outgoing: &Outgoing, tuple: FiveTuple, ttl: u8) {
        let hops = self.fabric.trace(tuple, outgoing.sent.0);
        let hop = usize::from(ttl).min(hops.len());
        let Some(address) = hops.get(hop.wrapping_sub(1)).copied().flatten() else {
            return;
        };
        let link = self.fabric.timing.link_ns;
        let there = outgoing.sent.0 + link * hop as i64;
        let event = if hop == hops.len() {
            Event::Arrived {
                nic: outgoing.dst,
                payload: Payload::from(outgoing),
                from: None,
                intact: true,
                nic_received: Some(Nanos(there)),
                received: Nanos(there),
            }
        } else {
            let at = Nanos(there + link * hop as i64);
            let answer = self.answer(outgoing, address);
            Event::Answered { answer, at }
        };
        let at = match &event {
            Event::Answered { at, .. } => at.0,
            _ => there,
        };
        self.happens(at, event);
    }

    fn answer(&self, outgoing: &Outgoing, from: IpAddr) -> Answer {
        let address = |nic: NicIndex| self.nics.get(nic.at()).map_or(from, |nic| nic.address);
        Answer {
            from,
            exceeded: true,
            code: 0,
            src: address(outgoing.src),
            dst: address(outgoing.dst),
            src_port: outgoing.port,
            dst_port: rocescope_model::ROCE_UDP_PORT,
            kind: Some(outgoing.kind),
        }
    }
}

impl Backend for Simulated {
    fn nics(&self) -> &[Nic] {
        &self.nics
    }

    fn clock(&self) -> Clock {
        Clock {
            source: "simulated",
            error: Nanos(0),
            own: self.fabric.clocks != Clocks::RIGHT,
        }
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal> {
        let tuple = self.tuple(outgoing.src, outgoing.dst, outgoing.port);
        match outgoing.kind {
            DatagramKind::Probe => self.probe(outgoing, tuple),
            DatagramKind::Trace { ttl, .. } => {
                self.trace(outgoing, tuple, ttl);
                Ok(())
            }
            _ => Err(Refusal::Remote),
        }
    }

    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error> {
        let next = self.ahead.keys().next().map(|(at, _)| *at);
        self.now = self.now.max(next.map_or(until, |next| next.min(until)));
        while let Some(entry) = self.ahead.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            events.push(entry.remove());
        }
        Ok(Waited {
            seen: self.now,
            woken: false,
        })
    }
}
