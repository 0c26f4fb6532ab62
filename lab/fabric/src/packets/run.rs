//! The simulation.

use super::events::{Due, Event};
use super::flow::Flow;
use super::network::{Node, Port};
use super::ports::{Egress, Ingress};
use super::ranks::Ranks;
use super::reports::{Collected, Trigger};
use super::scenario::{Background, Scenario};
use super::watch::{Ask, Seen, Watch};
use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::StepRow;

/// A packet at a tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tapped {
    /// The port.
    pub port: Port,
    /// Whether it entered the switch; otherwise it left it.
    pub enters: bool,
    /// When its last bit entered, or its first bit left.
    pub time_ns: i64,
    /// Its sender, receiver, and UDP source port.
    pub flow: (Node, Node, u16),
    /// When its sender sent it: different for the packets of a flow.
    pub sent_ns: i64,
    /// Its payload.
    pub payload: u32,
}

/// What a run gives.
#[derive(Debug)]
pub struct Outcome {
    /// Steps; those that did not end have no duration.
    pub steps: Vec<StepRow>,
    /// Reports, for each watch.
    pub collected: Vec<Collected>,
    /// End of the run.
    pub end_ns: i64,
    /// Whether the collective ended.
    pub completed: bool,
    /// Packets that found no room; 0 unless the headroom is too small.
    pub dropped: u64,
    /// Packets of the collective that entered a queue while its port was paused.
    pub halted: u64,
    /// For each flow outside the collective: whether it stood in a queue with the collective.
    pub met: Vec<bool>,
    /// Pauses of ports, by port and in the order of time.
    pub pauses: Vec<Paused>,
    /// What passed at taps, in the order of time.
    pub tapped: Vec<Tapped>,
    /// Events.
    pub events: u64,
}

/// A pause of a port, by its peer or by an injected storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paused {
    /// The paused port.
    pub port: Port,
    /// When it began.
    pub start_ns: i64,
    /// When it ended: at the latest with the run.
    pub end_ns: i64,
}

/// A run.
pub(super) struct Run<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) watches: &'a mut [&'a mut dyn Watch],
    pub(super) collected: Vec<Collected>,
    pub(super) flows: Vec<Flow>,
    pub(super) egress: Vec<Egress>,
    pub(super) ingress: Vec<Ingress>,
    /// Flows out of each host, and which sent last.
    pub(super) of_host: Vec<(Vec<u32>, usize)>,
    pub(super) ranks: Ranks,
    pub(super) now_ns: i64,
    pub(super) queue: BinaryHeap<Due>,
    pub(super) order: u64,
    /// When a port last answered a watch: its epoch.
    pub(super) answered: BTreeMap<(usize, Port, Trigger), i64>,
    pub(super) dropped: u64,
    pub(super) halted: u64,
    pub(super) met: Vec<bool>,
    pub(super) tapped: Vec<Tapped>,
}

/// Runs a scenario.
pub fn run<'a>(scenario: &'a Scenario, watches: &'a mut [&'a mut dyn Watch]) -> Outcome {
    let mut run = Run::new(scenario, watches);
    run.start();
    while let Some(due) = run.queue.pop() {
        if due.at_ns > scenario.until_ns || run.ranks.are_done() {
            break;
        }
        run.now_ns = due.at_ns;
        run.happen(due.event);
    }
    run.finish()
}

impl<'a> Run<'a> {
    fn new(scenario: &'a Scenario, watches: &'a mut [&'a mut dyn Watch]) -> Self {
        let network = &scenario.network;
        let nodes = network.nodes().count();
        Self {
            scenario,
            collected: watches.iter().map(|_| Collected::new(nodes)).collect(),
            watches,
            flows: Vec::new(),
            egress: vec![Egress::default(); network.ports()],
            ingress: vec![Ingress::default(); network.ports()],
            of_host: vec![(Vec::new(), 0); network.hosts() as usize],
            ranks: Ranks::new(&scenario.collective),
            now_ns: 0,
            queue: BinaryHeap::new(),
            order: 0,
            answered: BTreeMap::new(),
            dropped: 0,
            halted: 0,
            met: vec![false; scenario.background.len()],
            tapped: Vec::new(),
        }
    }

    pub(super) fn epoch(&self) -> i64 {
        self.now_ns / self.scenario.settings.epoch_ns
    }

    pub(super) fn at(&mut self, at_ns: i64, event: Event) {
        self.order += 1;
        let order = self.order;
        self.queue.push(Due { at_ns, order, event });
    }

    pub(super) fn after(&mut self, delay_ns: i64, event: Event) {
        self.at(self.now_ns + delay_ns, event);
    }

    pub(super) fn start(&mut self) {
        let scenario = self.scenario;
        for one in &scenario.background {
            let flow = self.flow(one.src, one.dst, one.src_port, &one.path);
            self.at(one.start_ns, Event::Begin(flow));
        }
        for storm in &scenario.storms {
            for (at_ns, on) in [(storm.start_ns, true), (storm.start_ns + storm.duration_ns, false)] {
                let port = storm.paused;
                self.at(
                    at_ns,
                    Event::Pause {
                        port,
                        by_storm: true,
                        on,
                    },
                );
            }
        }
        self.at(scenario.settings.tick_ns, Event::Tick);
        self.at(scenario.settings.epoch_ns, Event::Epoch);
        for rank in 0..self.ranks.count() {
            self.begin_step(rank);
        }
    }

    /// Adds a flow and returns its number.
    pub(super) fn flow(&mut self, src: Node, dst: Node, src_port: u16, path: &[Port]) -> u32 {
        let network = &self.scenario.network;
        let path = match path {
            [] => network.route(src, dst, src_port, self.scenario.seed),
            path => path.to_vec(),
        };
        let number = self.flows.len() as u32;
        self.flows.push(Flow {
            ack_ns: self.scenario.settings.ack_ns(path.len()),
            src,
            dst,
            src_port,
            path,
            step: None,
            to_send: 0,
            to_receive: 0,
            in_flight: 0,
            outstanding: VecDeque::new(),
            progress_ns: 0,
        });
        self.of_host[src.0 as usize].0.push(number);
        number
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(packet) => self.arrive(packet),
            Event::Free(port) => {
                self.egress[port.0 as usize].busy = false;
                self.send(port);
            }
            Event::Acknowledge { flow, payload, sent_ns } => self.acknowledge(flow, payload, sent_ns),
            Event::Pause { port, by_storm, on } => {
                self.egress[port.0 as usize].pause(self.now_ns, by_storm, on);
                self.send(port);
            }
            Event::Begin(flow) => {
                let Background { bytes, .. } = self.scenario.background[flow as usize];
                self.begin_flow(flow, bytes);
            }
            Event::Poll { poll, hop } => self.poll(poll, hop),
            Event::Trace { poll, ingress } => self.trace(poll, ingress),
            Event::Notify {
                watch,
                rank,
                step,
                detections,
            } => {
                let seen = Seen::Notified { rank, step, detections };
                self.show(watch, seen);
            }
            Event::Tick => {
                self.overdue();
                self.after(self.scenario.settings.tick_ns, Event::Tick);
            }
            Event::Epoch => {
                self.see(Seen::Epoch);
                self.after(self.scenario.settings.epoch_ns, Event::Epoch);
            }
        }
    }

    /// Shows something to all watches.
    pub(super) fn see(&mut self, seen: Seen) {
        for watch in 0..self.watches.len() {
            self.show(watch, seen);
        }
    }

    pub(super) fn show(&mut self, watch: usize, seen: Seen) {
        let mut asks: Vec<Ask> = Vec::new();
        self.watches[watch].see(self.now_ns, seen, &mut asks);
        for ask in asks {
            self.ask(watch, ask);
        }
    }

    fn finish(mut self) -> Outcome {
        // What the counters of the last epoch show.
        self.now_ns += self.scenario.settings.epoch_ns;
        for port in 0..self.egress.len() {
            self.roll(Port(port as u32));
        }
        self.now_ns -= self.scenario.settings.epoch_ns;
        let mut pauses = Vec::new();
        for (number, egress) in (0..).zip(&mut self.egress) {
            egress.end_pause(self.now_ns);
            let port = Port(number);
            let of_port = egress.pauses.iter();
            pauses.extend(of_port.map(|&(start_ns, end_ns)| Paused { port, start_ns, end_ns }));
        }
        let open: Vec<StepRow> = (0..self.ranks.count())
            .filter(|rank| self.ranks.sending(*rank).is_some())
            .map(|rank| self.row(rank))
            .collect();
        Outcome {
            completed: self.ranks.are_done(),
            steps: self.ranks.rows().into_iter().chain(open).collect(),
            collected: self.collected,
            end_ns: self.now_ns,
            dropped: self.dropped,
            halted: self.halted,
            met: self.met,
            pauses,
            tapped: self.tapped,
            events: self.order,
        }
    }
}
