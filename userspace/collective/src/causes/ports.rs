//! The ports of a window, and which waits for which.

use super::{Cause, Kind};
use crate::steps::FlowKey;
use crate::telemetry::{PortCounters, PortKey, Report};
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A port is followed if it has at least this part of the queue of the largest one beside it.
const MIN_SHARE: u64 = 10;

/// A port in a window.
#[derive(Debug, Default)]
pub(super) struct Port {
    /// Whether a report has it; otherwise only another port names it.
    pub(super) reported: bool,
    pub(super) packets: u64,
    pub(super) queued: u64,
    pub(super) paused: u64,
    pub(super) peer: Option<PortKey>,
    pub(super) peer_is_host: Option<bool>,
    pub(super) flows: Vec<FlowKey>,
    /// Flows with packets that entered while it was paused.
    pub(super) halted: Vec<FlowKey>,
    /// Flows whose packets found others in the queue.
    pub(super) waiting: Vec<FlowKey>,
    /// Ports of the next switch that paused it or that its traffic goes to.
    pub(super) next: Vec<usize>,
    pub(super) has_previous: bool,
}

impl Port {
    /// Whether the port explains a pause: it is paused itself, or packets waited in its queue.
    pub(super) fn explains(&self) -> bool {
        self.paused > 0 || self.queued >= self.packets.max(1)
    }

    /// What weighs on the port: packets before others, and packets that it could not send.
    pub(super) fn mass(&self) -> u64 {
        self.queued.saturating_add(self.paused)
    }

    fn count(&mut self, counters: &PortCounters) {
        self.reported = true;
        self.packets += counters.packets;
        self.queued += counters.queued;
        self.paused += counters.paused;
        if counters.peer.port.is_some() {
            self.peer.clone_from(&counters.peer.port);
        }
        self.peer_is_host = counters.peer.is_host.or(self.peer_is_host);
        let insert = |list: &mut Vec<FlowKey>, flow: FlowKey| {
            if !list.contains(&flow) {
                list.push(flow);
            }
        };
        for flow in &counters.flows {
            insert(&mut self.flows, flow.flow);
            if flow.paused > 0 {
                insert(&mut self.halted, flow.flow);
            }
            if flow.queued > 0 {
                insert(&mut self.waiting, flow.flow);
            }
        }
    }
}

/// The ports of a window.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub(super) keys: Vec<PortKey>,
    pub(super) ports: Vec<Port>,
    pub(super) index: HashMap<PortKey, usize>,
}

impl Ports {
    fn of(&mut self, key: &PortKey) -> usize {
        if let Some(at) = self.index.get(key) {
            return *at;
        }
        self.keys.push(key.clone());
        self.ports.push(Port::default());
        self.index.insert(key.clone(), self.keys.len() - 1);
        self.keys.len() - 1
    }

    pub(super) fn new<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut all = Self::default();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for report in reports {
            for counters in report.now.iter().chain(&report.last) {
                let at = all.of(&PortKey {
                    switch: report.switch.clone(),
                    port: counters.port.clone(),
                });
                all.ports[at].count(counters);
                if let Some((_, upstream, _)) = &counters.metered
                    && let Some(upstream) = &upstream.port
                {
                    let upstream = all.of(upstream);
                    edges.push((upstream, at));
                }
            }
        }
        for (from, to) in edges {
            if !all.ports[from].next.contains(&to) {
                all.ports[from].next.push(to);
            }
        }
        all.prune();
        all
    }

    /// Keeps the edges to ports that hold a good part of what waits beyond.
    fn prune(&mut self) {
        for at in 0..self.ports.len() {
            let next = core::mem::take(&mut self.ports[at].next);
            let most = next.iter().map(|next| self.ports[*next].mass()).max().unwrap_or(0);
            let heavy = |next: &usize| {
                let port = &self.ports[*next];
                port.explains() && port.mass().saturating_mul(MIN_SHARE) >= most
            };
            let next: Vec<usize> = next.into_iter().filter(heavy).collect();
            for next in &next {
                self.ports[*next].has_previous = true;
            }
            self.ports[at].next = next;
        }
    }

    /// A storm that pauses a port: its flows are halted by it, and none of them causes it.
    pub(super) fn storm(&self, root: usize, path: &[usize], start_ns: i64) -> Cause {
        let port = &self.ports[root];
        let is_host = port.peer_is_host == Some(true);
        Cause {
            sender: port.peer.clone().map(|peer| (peer, is_host)),
            ..self.cause(Kind::PfcStorm, root, path, Vec::new(), start_ns)
        }
    }

    pub(super) fn cause(&self, kind: Kind, root: usize, path: &[usize], flows: Vec<FlowKey>, start_ns: i64) -> Cause {
        let mut victims: Vec<FlowKey> = Vec::new();
        for port in path.iter().map(|port| &self.ports[*port]) {
            for flow in &port.halted {
                if !victims.contains(flow) && !self.ports[root].flows.contains(flow) {
                    victims.push(*flow);
                }
            }
        }
        Cause {
            kind,
            port: self.keys[root].clone(),
            sender: None,
            path: path.iter().map(|port| self.keys[*port].clone()).collect(),
            flows,
            victims,
            first_ns: start_ns,
            last_ns: start_ns,
            windows: 1,
        }
    }
}
