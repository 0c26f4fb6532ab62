//! The host as all probers see it: settings, NICs and clock, and what they share.

use super::settings::Settings;
use crate::counters::Counters;
use crate::requests::{Asker, Requests};
use crate::throttle::Throttle;
use crate::tracer::Tracer;
use crate::types::{Clock, DatagramKind, Nanos, Nic, NicIndex, Outgoing, Refusal, Sequence};
use rocescope_model::{PathRow, ProbeRow, Text};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

/// What the probers of an agent share.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) settings: Settings,
    /// Number of the agent.
    pub(crate) id: u64,
    pub(crate) nics: Vec<Nic>,
    names: Vec<Text>,
    pub(crate) clock: Clock,
    /// No more probes and traces begin.
    pub(crate) is_stopped: bool,
    /// NICs of other hosts are probed, so that the ways back to those who probe this one are traced too.
    pub(crate) has_peers: bool,
    pub(crate) tracer: Tracer,
    /// The source ports of each NIC, and their classes of service.
    pub(crate) classes: Vec<Vec<(u16, u8)>>,
    pub(crate) throttle: Throttle,
    /// The maximum lateness of a probe since the last update of the throttle.
    pub(crate) late: Nanos,
    /// Datagrams that leave before all others.
    pub(crate) outbox: VecDeque<Outgoing>,
    /// Questions to other agents: flows, watched paths and traces.
    pub(crate) questions: Requests<Asker>,
    pub(crate) counters: Counters,
    pub(crate) probe_rows: Vec<ProbeRow>,
    pub(crate) path_rows: Vec<PathRow>,
    pub(crate) last_refusal: Option<(NicIndex, Refusal)>,
}

impl Host {
    pub(crate) fn new(settings: Settings, nics: &[Nic], clock: Clock, id: u64, now: Nanos) -> Self {
        Self {
            id,
            names: nics.iter().map(|nic| nic.name.clone().into()).collect(),
            nics: nics.to_vec(),
            clock,
            is_stopped: false,
            has_peers: settings.peers.is_some(),
            tracer: Tracer::new(settings.limits(), nics.len() as u16, now),
            classes: vec![Vec::new(); nics.len()],
            throttle: Throttle::new(settings.cpu_bound, settings.interval),
            late: Nanos(0),
            outbox: VecDeque::new(),
            questions: Requests::default(),
            counters: Counters::default(),
            probe_rows: Vec::new(),
            path_rows: Vec::new(),
            last_refusal: None,
            settings,
        }
    }

    /// Sets what may change while the agent runs.
    pub(crate) fn reconfigure(&mut self, settings: &Settings, now: Nanos) {
        let own = &mut self.settings;
        own.reconfigure(settings);
        self.throttle.reconfigure(own.cpu_bound, own.interval);
        self.tracer.reconfigure(own.limits(), now);
    }

    /// What stamps datagrams to and from other hosts.
    pub(crate) fn clock_of_others(&self) -> Clock {
        self.settings.others.map_or(self.clock, |others| others.clock)
    }

    /// A question to the agent of another host, on the path of a source port.
    pub(crate) fn ask(&mut self, asker: Asker, nic: NicIndex, remote: IpAddr, port: u16, now: Nanos) -> Outgoing {
        Outgoing {
            src: nic,
            dst: nic,
            remote: Some(remote),
            port,
            dscp: self.settings.first_dscp(),
            sequence: Sequence(self.questions.ask(asker, now, now)),
            kind: DatagramKind::Question,
            sent: now,
            agent: self.id,
        }
    }

    /// Forgets questions that no answer will come to, or whose departure the NIC does not tell. Flows count theirs.
    pub(crate) fn expire(&mut self, now: Nanos) {
        if self.questions.is_empty() {
            return;
        }
        let timeout = self.settings.timeout;
        self.questions
            .retain(|question| matches!(question.asked, Asker::Flow(_)) || now - question.sent <= timeout);
    }

    /// Counts a datagram of another agent or program, or one that is too damaged to identify.
    pub(crate) fn unknown(&mut self, is_intact: bool) {
        match is_intact {
            true => self.counters.foreign_datagrams += 1,
            false => self.counters.unreadable += 1,
        }
    }

    /// The NIC with this address.
    pub(crate) fn nic(&self, address: IpAddr) -> Option<NicIndex> {
        let found = self.nics.iter().position(|nic| nic.address == address);
        found.map(|at| NicIndex(at as u16))
    }

    pub(crate) fn name(&self, nic: NicIndex) -> Text {
        self.names.get(nic.at()).cloned().unwrap_or_default()
    }

    pub(crate) fn address(&self, nic: NicIndex) -> IpAddr {
        let unknown = Ipv4Addr::UNSPECIFIED.into();
        self.nics.get(nic.at()).map_or(unknown, |nic| nic.address)
    }
}

#[cfg(test)]
use {
    super::prober::{Prober, Received},
    crate::requests::Arrival,
};

/// A host of one NIC, for tests of probers.
#[cfg(test)]
impl Host {
    pub(crate) fn single() -> Self {
        let nic = Nic {
            name: "rail0".into(),
            address: "10.0.0.1".parse().unwrap(),
        };
        let clock = Clock {
            source: "simulated",
            error: Nanos(0),
            own: false,
        };
        Self::new(Settings::new("h0", 1), &[nic], clock, 7, Nanos(0))
    }

    /// Passes an answer to a question on: from where, how long it was held there, and when it arrived.
    pub(crate) fn answer(&mut self, to: &mut dyn Prober, asked: &Outgoing, from: IpAddr, [held, at]: [i64; 2]) {
        let received = Received {
            nic: asked.src,
            payload: &asked.into(),
            from: Some(from),
            arrival: Arrival {
                intact: true,
                nic_received: Some(Nanos(at)),
                received: Nanos(at),
                held: Nanos(held),
            },
        };
        to.arrived(&received, self);
    }
}
