//! Packets: out of hosts, through the queues of switches, and their acknowledgements.

use super::events::Event;
use super::network::{Node, Port};
use super::ports::{FlowCount, Packet};
use super::run::{Run, Tapped};
use super::watch::Seen;

impl Run<'_> {
    /// Begins the current epoch at a port, if it has not begun there.
    pub(super) fn roll(&mut self, port: Port) {
        let epoch = self.epoch();
        let egress = &mut self.egress[port.0 as usize];
        if egress.now.number == epoch {
            return;
        }
        let waits = |count: &&FlowCount| count.queued + count.paused > 0;
        let is_collective = |count: &FlowCount| self.flows[count.flow as usize].step.is_some();
        if egress.now.flows.iter().filter(waits).any(is_collective) {
            for count in egress.now.flows.iter().filter(waits) {
                if let Some(met) = self.met.get_mut(count.flow as usize) {
                    *met = true;
                }
            }
        }
        egress.roll(epoch);
    }

    pub(super) fn begin_flow(&mut self, flow: u32, bytes: u64) {
        let now_ns = self.now_ns;
        let flow = &mut self.flows[flow as usize];
        flow.to_send = bytes;
        flow.to_receive = bytes;
        flow.progress_ns = now_ns;
        if let Some(port) = flow.path.first().copied() {
            self.send(port);
        }
    }

    /// Sends the next packet out of a port, if there is one and the port is free.
    pub(super) fn send(&mut self, port: Port) {
        if !self.egress[port.0 as usize].may_send() {
            return;
        }
        let node = self.scenario.network.node(port);
        let packet = match self.scenario.network.is_host(node) {
            true => self.next_of_host(node),
            false => self.next_of_switch(port),
        };
        let Some(packet) = packet else { return };
        self.tap(port, false, &packet);
        self.egress[port.0 as usize].busy = true;
        let busy_ns = self.scenario.settings.packet_ns(u64::from(packet.payload));
        self.after(busy_ns, Event::Free(port));
        self.after(busy_ns + self.scenario.settings.delay_ns, Event::Arrive(packet));
    }

    /// Captures a packet that passes a port with a tap.
    fn tap(&mut self, port: Port, enters: bool, packet: &Packet) {
        if self.scenario.taps.contains(&port) {
            let flow = &self.flows[packet.flow as usize];
            self.tapped.push(Tapped {
                port,
                enters,
                time_ns: self.now_ns,
                flow: (flow.src, flow.dst, flow.src_port),
                sent_ns: packet.sent_ns,
                payload: packet.payload,
            });
        }
    }

    /// Flows of a host take turns.
    pub(super) fn next_of_host(&mut self, host: Node) -> Option<Packet> {
        let settings = &self.scenario.settings;
        let (flows, last) = &mut self.of_host[host.0 as usize];
        for turn in 1..=flows.len() {
            let at = (*last + turn) % flows.len();
            let number = flows[at];
            let flow = &mut self.flows[number as usize];
            let payload = flow.to_send.min(settings.mtu);
            if payload == 0 || flow.in_flight + payload > settings.window {
                continue;
            }
            *last = at;
            flow.to_send -= payload;
            flow.in_flight += payload;
            flow.outstanding.push_back(self.now_ns);
            return Some(Packet {
                flow: number,
                hop: 0,
                payload: payload as u32,
                sent_ns: self.now_ns,
            });
        }
        None
    }

    pub(super) fn next_of_switch(&mut self, port: Port) -> Option<Packet> {
        let (packet, ingress) = self.egress[port.0 as usize].queue.pop_front()?;
        let settings = &self.scenario.settings;
        let state = &mut self.ingress[ingress.0 as usize];
        state.held -= u64::from(packet.payload);
        if state.pauses && state.held <= settings.resume_below {
            state.pauses = false;
            self.pause_peer(ingress, false);
        }
        Some(Packet {
            hop: packet.hop + 1,
            ..packet
        })
    }

    pub(super) fn pause_peer(&mut self, ingress: Port, on: bool) {
        let port = self.scenario.network.peer(ingress);
        let by_storm = false;
        self.after(self.scenario.settings.delay_ns, Event::Pause { port, by_storm, on });
    }

    /// A packet arrives at the other end of a link.
    pub(super) fn arrive(&mut self, packet: Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        let payload = u64::from(packet.payload);
        let hop = packet.hop as usize;
        let Some(port) = flow.path.get(hop + 1).copied() else {
            flow.to_receive -= payload;
            let done = flow.to_receive == 0;
            let (step, ack_ns) = (flow.step, flow.ack_ns);
            let event = Event::Acknowledge {
                flow: packet.flow,
                payload: packet.payload,
                sent_ns: packet.sent_ns,
            };
            self.after(ack_ns, event);
            if let Some(step) = step.filter(|_| done)
                && let Some(next) = self.ranks.arrived(step)
            {
                self.begin_step(next.rank);
            }
            return;
        };
        let is_collective = flow.step.is_some();
        let ingress = self.scenario.network.peer(flow.path[hop]);
        self.tap(ingress, true, &packet);
        let settings = &self.scenario.settings;
        let state = &mut self.ingress[ingress.0 as usize];
        if state.held + payload > settings.pause_above + settings.headroom {
            self.dropped += 1;
            return;
        }
        state.held += payload;
        let pauses = !state.pauses && state.held > settings.pause_above;
        state.pauses |= pauses;
        self.roll(port);
        let egress = &mut self.egress[port.0 as usize];
        egress.count(packet.flow, ingress, payload);
        self.halted += u64::from(is_collective && egress.is_paused());
        egress.queue.push_back((packet, ingress));
        if pauses {
            self.pause_peer(ingress, true);
        }
        self.send(port);
    }

    pub(super) fn acknowledge(&mut self, number: u32, payload: u32, sent_ns: i64) {
        let flow = &mut self.flows[number as usize];
        flow.in_flight -= u64::from(payload);
        flow.outstanding.pop_front();
        flow.progress_ns = self.now_ns;
        let (nic, step) = (flow.path[0], flow.step);
        let done = flow.to_send == 0 && flow.in_flight == 0;
        if let Some(step) = step {
            let rtt_ns = self.now_ns - sent_ns;
            self.see(Seen::Acknowledged {
                rank: step.rank,
                rtt_ns,
            });
            if done {
                self.end_step(step);
            }
        }
        self.send(nic);
    }
}
