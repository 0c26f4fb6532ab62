//! Polls on their way: along the path of a flow, and from ports that are paused to those that pause them.
//!
//! As in Hawkeye (SIGCOMM 2025), a switch on the path reports the port of the flow. If that port is paused, or was in the
//! epochs that the counters cover, the next switch also reports the ports to which the traffic of the paused port
//! goes, and the poll follows those that are paused in turn. Within an epoch, a switch answers each of these questions
//! once, whichever host asks.

use super::events::{Event, Poll};
use super::network::Port;
use super::reports::{FRAME, Report, Trigger};
use super::run::Run;
use super::watch::Ask;
use alloc::vec::Vec;

impl Run<'_> {
    /// How long the counters remember.
    fn memory_ns(&self) -> i64 {
        2 * self.scenario.settings.epoch_ns
    }

    /// How long a poll takes over a link.
    fn hop_ns(&self) -> i64 {
        self.scenario.settings.ack_ns(1)
    }

    /// Does what a monitor asks for.
    pub(super) fn ask(&mut self, watch: usize, ask: Ask) {
        match ask {
            Ask::Path { rank } => {
                let Some(flow) = self.flow_of(rank) else { return };
                self.collected[watch].polls += 1;
                self.collected[watch].wire_bytes += FRAME;
                let poll = Poll {
                    watch,
                    flow: Some(flow),
                };
                self.after(self.hop_ns(), Event::Poll { poll, hop: 1 });
                self.follow(poll, self.flows[flow as usize].path[0]);
            }
            Ask::All => self.report_all(watch),
            Ask::Notify {
                from,
                to,
                step,
                detections,
            } => {
                self.collected[watch].notifications += 1;
                self.collected[watch].wire_bytes += FRAME;
                let ranks = &self.scenario.collective.ranks;
                let links = self.scenario.network.route(ranks[from], ranks[to], 0, 0).len();
                let event = Event::Notify {
                    watch,
                    rank: to,
                    step,
                    detections,
                };
                self.after(self.scenario.settings.ack_ns(links), event);
            }
        }
    }

    /// A poll arrives at the switch that a flow leaves by this port of its path.
    pub(super) fn poll(&mut self, poll: Poll, hop: usize) {
        let port = poll
            .flow
            .and_then(|flow| self.flows[flow as usize].path.get(hop).copied());
        let Some(port) = port else { return };
        if self.is_new(poll.watch, port, Trigger::Flow) {
            self.report(poll, Trigger::Flow, &[(port, None)]);
        }
        self.after(self.hop_ns(), Event::Poll { poll, hop: hop + 1 });
        self.follow(poll, port);
    }

    /// Follows the pauses of a port to the switch at the other end of its link.
    fn follow(&mut self, poll: Poll, port: Port) {
        let ingress = self.scenario.network.peer(port);
        let is_switch = !self.scenario.network.is_host(self.scenario.network.node(ingress));
        let was_paused = self.egress[port.0 as usize].was_paused(self.now_ns, self.memory_ns());
        if is_switch && was_paused {
            self.after(self.hop_ns(), Event::Trace { poll, ingress });
        }
    }

    /// A poll that follows pauses arrives at the ingress port that sent them.
    pub(super) fn trace(&mut self, poll: Poll, ingress: Port) {
        if !self.is_new(poll.watch, ingress, Trigger::Pause) {
            return;
        }
        let to = self.fed_by(ingress);
        let ports: Vec<(Port, Option<Port>)> = to.iter().map(|port| (*port, Some(ingress))).collect();
        self.report(poll, Trigger::Pause, &ports);
        for port in to {
            self.follow(poll, port);
        }
    }

    /// Whether a port has not answered this question in this epoch.
    fn is_new(&mut self, watch: usize, port: Port, trigger: Trigger) -> bool {
        let epoch = self.epoch();
        self.answered.insert((watch, port, trigger), epoch) != Some(epoch)
    }

    /// The egress ports to which traffic of an ingress port went.
    fn fed_by(&mut self, ingress: Port) -> Vec<Port> {
        let node = self.scenario.network.node(ingress);
        let mut fed = Vec::new();
        for port in self.scenario.network.ports_of(node) {
            self.roll(*port);
            let egress = &self.egress[port.0 as usize];
            if egress.now.metered(ingress) + egress.last.metered(ingress) > 0 {
                fed.push(*port);
            }
        }
        fed
    }

    fn report(&mut self, poll: Poll, trigger: Trigger, ports: &[(Port, Option<Port>)]) {
        let Some((first, _)) = ports.first() else { return };
        for (port, _) in ports {
            self.roll(*port);
        }
        let report = Report {
            network: &self.scenario.network,
            flows: &self.flows,
            switch: self.scenario.network.node(*first),
            now_ns: self.now_ns,
            trigger,
        };
        let ports: Vec<_> = ports
            .iter()
            .map(|(port, ingress)| (*port, *ingress, &self.egress[port.0 as usize]))
            .collect();
        self.collected[poll.watch].take(&report, &ports, poll.flow);
    }

    /// All switches report: each port with packets, and the traffic of each ingress port whose peer was paused.
    fn report_all(&mut self, watch: usize) {
        let poll = Poll { watch, flow: None };
        let memory_ns = self.memory_ns();
        let network = &self.scenario.network;
        for node in network.nodes().filter(|node| !network.is_host(*node)) {
            let ports = network.ports_of(node).to_vec();
            let mut used = Vec::new();
            for port in &ports {
                self.roll(*port);
                let egress = &self.egress[port.0 as usize];
                if egress.now.total.packets + egress.last.total.packets > 0 || egress.was_paused(self.now_ns, memory_ns)
                {
                    used.push((*port, None));
                }
            }
            self.report(poll, Trigger::Flow, &used);
            for ingress in ports {
                let upstream = network.peer(ingress);
                if self.egress[upstream.0 as usize].was_paused(self.now_ns, memory_ns) {
                    let to: Vec<_> = self
                        .fed_by(ingress)
                        .into_iter()
                        .map(|port| (port, Some(ingress)))
                        .collect();
                    self.report(poll, Trigger::Pause, &to);
                }
            }
        }
    }
}
