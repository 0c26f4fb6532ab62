//! Collectives: ranks that send chunks when they have data and a credit, over queue pairs that lose packets or not.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the order of events, and the frames that pass the tap |
//! | `plan` | who sends what to whom, and what that needs |
//! | `rank` | a rank: when it may send a step and post a credit |
//! | `qp` | a queue pair: packets, losses, acknowledgements |
//! | `stragglers` | what is slow |
//! | `truth` | steps as they passed the tap |

mod plan;
mod qp;
mod rank;
mod stragglers;
mod truth;

use self::plan::Plan;
use self::qp::{Passing, Qp};
use self::rank::Rank;
use self::stragglers::Stragglers;
use super::account::{Account, Arrival};
use super::endpoints::Flow;
use super::frame::{End, Header, Layout};
use super::random::Random;
use super::scenario::collective::Collective;
use super::tally::Volume;
use super::truth::FlowId;
use rocescope_wire::tunnel::Encapsulation;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
pub use truth::{StepTruth, StragglerTruth};

/// The first random stream of the groups; each rank and queue pair has its own.
const STREAMS: u64 = 1 << 41;
/// Bytes of a frame before the BTH, with IPv4 and IPv6.
const HEADER_BYTES: [u64; 2] = [42, 62];

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// A rank starts.
    Start(usize),
    /// A packet passes the tap.
    Pass(usize, Passing),
    /// A packet arrives.
    Arrive(usize, Passing, u64),
    /// A rank has reduced the chunk of this step of another, which came over this link.
    Reduced { rank: usize, link: usize, step: u32 },
    /// The network interface of a rank is free.
    Free(usize),
    /// A sender has waited for an acknowledgement.
    Timeout(usize),
}

/// A collective of the scenario.
#[derive(Clone, Debug)]
pub(super) struct Source {
    collective: Collective,
    plan: Plan,
    ranks: Vec<Rank>,
    /// For each link of the plan, its queue pairs in turn.
    qps: Vec<Qp>,
    stragglers: Stragglers,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    created: u64,
    /// The packet that passes next.
    next: Option<(u64, usize, Passing)>,
    random: Random,
    /// Collectives so far, and steps that are not complete.
    round: u16,
    unfinished: u64,
    steps: Vec<StepTruth>,
    layout: Layout,
    headers: Vec<[Header; 2]>,
    flows: Vec<[Flow; 2]>,
}

impl Source {
    /// Collective `number` of the scenario.
    pub(super) fn new(collective: &Collective, seed: u64, number: usize) -> Self {
        let mut random = Random::new(seed, STREAMS + ((number as u64) << 32));
        let plan = Plan::new(collective);
        let ranks = collective.ranks.len();
        let stragglers = Stragglers::draw(collective, &mut random);
        let mut source = Self {
            ranks: (0..ranks).map(|_| Rank::new(&plan)).collect(),
            qps: Vec::new(),
            stragglers,
            events: BinaryHeap::new(),
            created: 0,
            next: None,
            random,
            round: 0,
            unfinished: 0,
            steps: Vec::new(),
            layout: Layout::plain(collective.ranks.is_v6()),
            headers: Vec::new(),
            flows: Vec::new(),
            collective: collective.clone(),
            plan,
        };
        source.make_qps();
        source.begin(collective.start.0);
        source.advance();
        source
    }

    /// The queue pairs of every link, numbered by rank in the order of their channels.
    fn make_qps(&mut self) {
        let mut next: Vec<u32> = (0..self.ranks.len())
            .map(|_| 0x1000 + self.random.below(0x1000) as u32)
            .collect();
        let mut number = |rank: usize| {
            let qpn = next[rank];
            next[rank] += 1;
            qpn
        };
        for link in &self.plan.links {
            for _ in 0..self.collective.qps {
                let qpns = [number(link.from), number(link.to)];
                let psns = [0, 1].map(|_| self.random.below(1 << 24) as u32);
                let ports = [0, 1].map(|_| 49_152 + self.random.below(16_384) as u16);
                let ends = [link.from, link.to].map(|rank| End::new(self.collective.ranks.get(rank)));
                let [one, two] = ends;
                self.headers.push([
                    self.layout.plain_header([one, two], ports[0]),
                    self.layout.plain_header([two, one], ports[1]),
                ]);
                self.flows.push([0, 1].map(|side| Flow {
                    id: FlowId {
                        src: ends[side].address,
                        dst: ends[1 - side].address,
                        udp_src_port: ports[side],
                        dst_qpn: qpns[1 - side],
                        vlan: None,
                        inner_vlan: None,
                        vni: None,
                    },
                    volume: Volume::default(),
                    messages: 0,
                    window: 0,
                    series: Vec::new(),
                }));
                let loss = self.stragglers.loss(link);
                self.qps.push(Qp::new(qpns, psns, loss.unwrap_or_default()));
            }
        }
    }

    /// Starts the next collective at `now`.
    fn begin(&mut self, now: u64) {
        self.round += 1;
        self.unfinished = self.plan.sends.iter().map(|sends| sends.len() as u64).sum();
        let plan = &self.plan;
        for rank in &mut self.ranks {
            rank.begin(plan);
        }
        for rank in 0..self.ranks.len() {
            let late = self.stragglers.late_ns(rank);
            let spread = self.random.below(self.collective.spread.0.saturating_add(1));
            self.add(now + spread + late, Event::Start(rank));
        }
    }

    fn add(&mut self, at: u64, event: Event) {
        self.created += 1;
        self.events.push(Reverse((at, self.created, event)));
    }

    /// Goes on to the next packet that passes the tap.
    fn advance(&mut self) {
        self.next = None;
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            if let Event::Pass(qp, passing) = event {
                self.next = Some((at, qp, passing));
                self.passes(at, qp, passing);
                return;
            }
            self.happen(at, event);
        }
    }

    fn happen(&mut self, now: u64, event: Event) {
        match event {
            Event::Start(rank) => {
                self.ranks[rank].is_started = true;
                self.post_credits(now, rank);
                self.post_steps(now, rank);
            }
            Event::Arrive(qp, passing, passed_ns) => self.arrive(now, qp, passing, passed_ns),
            Event::Reduced { rank, link, step } => {
                self.ranks[rank].reduced(link, step);
                self.post_credits(now, rank);
                self.post_steps(now, rank);
                self.unfinished -= 1;
                if self.unfinished == 0 && self.round < self.collective.repeat {
                    self.begin(now + self.collective.pause.0);
                }
            }
            Event::Free(rank) => self.pump(now, rank),
            Event::Timeout(qp) => {
                if let Some(at) = self.qps[qp].time_out(now, self.collective.timeout.0) {
                    self.add(at, Event::Timeout(qp));
                }
                let rank = self.plan.links[qp / usize::from(self.collective.qps)].from;
                self.pump(now, rank);
            }
            Event::Pass(..) => {}
        }
    }

    /// Posts every credit for which the rank has a buffer: over the first queue pair of the link.
    fn post_credits(&mut self, now: u64, rank: usize) {
        let posted = self.ranks[rank].post_credits(&self.plan, rank, self.collective.slots.into());
        for link in posted {
            let qp = link * usize::from(self.collective.qps);
            let number = self.qps[qp].post_credit();
            self.send(now, qp, Passing::Credit { number });
        }
    }

    /// Sends all steps that have data and credits.
    fn post_steps(&mut self, now: u64, rank: usize) {
        while let Some((step, link, ordinal)) = self.ranks[rank].next_step(&self.plan, rank) {
            let qps = usize::from(self.collective.qps);
            let qp = link * qps + ordinal as usize % qps;
            let send = self.plan.sends[rank][step];
            let truth = self.steps.len();
            let flow = &self.flows[qp][0].id;
            self.steps.push(StepTruth {
                collective: self.round,
                rank: rank as u32,
                channel: self.plan.links[link].channel,
                step: send.number,
                host: flow.src,
                dst_host: flow.dst,
                src_qpn: self.qps[qp].qpns[0],
                dst_qpn: self.qps[qp].qpns[1],
                bytes: send.bytes.into(),
                credit_ns: self.ranks[rank].credit_ns(link, ordinal),
                ..StepTruth::default()
            });
            self.qps[qp].post(send.bytes, self.collective.mtu, truth);
        }
        self.pump(now, rank);
    }

    /// The network interface of a rank sends its next packet, if it is free and has one.
    fn pump(&mut self, now: u64, rank: usize) {
        if now < self.ranks[rank].busy_until {
            return;
        }
        let own = &self.plan.from[rank];
        let qps = usize::from(self.collective.qps);
        let count = own.len() * qps;
        let first = self.ranks[rank].turn;
        let candidates = (0..count).map(|at| (first + at) % count);
        let place = |at: usize| own[at / qps] * qps + at % qps;
        let Some(at) = candidates.into_iter().find(|at| self.qps[place(*at)].is_ready()) else {
            return;
        };
        let qp = place(at);
        self.ranks[rank].turn = at + 1;
        let rate = self.stragglers.rate(rank).unwrap_or(self.collective.rate.0);
        let Some((passing, bytes)) = self.qps[qp].take(self.collective.mtu) else {
            return;
        };
        let header = HEADER_BYTES[usize::from(self.collective.ranks.is_v6())];
        let took = (bytes + header) * 8 * 1_000_000_000 / rate.max(1);
        let sent = now + took;
        self.ranks[rank].busy_until = sent;
        self.add(sent, Event::Free(rank));
        let timeout = self.collective.timeout.0;
        if let Some(at) = self.qps[qp].start_timer(sent, timeout) {
            self.add(at, Event::Timeout(qp));
        }
        let fate = self.qps[qp].loss;
        let is_lost = fate.hits(self.random.next());
        let is_upstream = self.random.below(2) == 0;
        let half = self.collective.delay.0 / 2;
        if !is_lost || !is_upstream {
            self.add(sent + half, Event::Pass(qp, passing));
        }
        if !is_lost {
            self.add(sent + 2 * half, Event::Arrive(qp, passing, sent + half));
        }
    }

    /// Sends a packet that takes no time and is never lost: credits and answers.
    fn send(&mut self, now: u64, qp: usize, passing: Passing) {
        let half = self.collective.delay.0 / 2;
        self.add(now + half, Event::Pass(qp, passing));
        self.add(now + 2 * half, Event::Arrive(qp, passing, now + half));
    }

    fn arrive(&mut self, now: u64, qp: usize, passing: Passing, passed_ns: u64) {
        let link = qp / usize::from(self.collective.qps);
        let (from, to) = (self.plan.links[link].from, self.plan.links[link].to);
        match passing {
            Passing::Credit { number } => {
                self.send(now, qp, Passing::CreditAck { number });
                self.ranks[from].credited(link, passed_ns);
                self.post_steps(now, from);
            }
            Passing::CreditAck { .. } => {}
            Passing::Ack { sequence, .. } | Passing::Nak { sequence, .. } => {
                let is_nak = matches!(passing, Passing::Nak { .. });
                self.qps[qp].answered(now, sequence, is_nak, self.collective.timeout.0);
                self.pump(now, from);
            }
            Passing::Data(packet) => {
                let (answer, is_new) = self.qps[qp].accept(&packet);
                if let Some(answer) = answer {
                    self.send(now, qp, answer);
                }
                if !is_new {
                    return;
                }
                if let Some(step) = self.steps.get_mut(packet.truth) {
                    step.last_ns = step.last_ns.max(passed_ns);
                }
                if packet.is_last {
                    let step = self.steps.get(packet.truth).map_or(0, |step| step.step);
                    let slow = self.stragglers.slow_ns(to);
                    let jitter = self.random.below(self.collective.compute_jitter.0.saturating_add(1));
                    let at = now + self.collective.compute.0 + jitter + slow;
                    self.add(at, Event::Reduced { rank: to, link, step });
                }
            }
        }
    }

    /// Counts what passes.
    fn passes(&mut self, now: u64, qp: usize, passing: Passing) {
        if let Passing::Data(packet) = passing {
            let is_repeated = self.qps[qp].passes(packet.sequence);
            if let Some(step) = self.steps.get_mut(packet.truth) {
                if step.first_ns == 0 {
                    step.first_ns = now;
                }
                step.last_ns = step.last_ns.max(step.first_ns);
                step.retransmitted_packets += u64::from(is_repeated);
            }
        }
    }

    /// When the next packet passes.
    pub(super) fn due(&self) -> Option<u64> {
        self.next.map(|(at, ..)| at)
    }

    /// Writes the next packet and counts it if the mirror delivers it; returns its length on the wire.
    pub(super) fn write(
        &mut self,
        frame: &mut Vec<u8>,
        snaplen: u32,
        at_ns: u64,
        account: Option<&mut Account>,
    ) -> Option<u32> {
        let (_, qp, passing) = self.next?;
        let packet = self.qps[qp].packet(passing, self.collective.mtu);
        let side = passing.side();
        let original = self
            .layout
            .write(frame, &self.headers[qp][side], None, &packet, snaplen);
        if let Some(account) = account {
            let arrival = Arrival {
                at_ns,
                frame_bytes: original,
                whole: frame.len() == original as usize,
                encapsulation: Encapsulation::None,
                series: false,
            };
            account.packet(&packet, arrival, &mut self.flows[qp][side]);
        }
        self.advance();
        Some(original)
    }

    pub(super) fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.flows.iter().flatten()
    }

    /// The number of connections.
    pub(super) fn connections(&self) -> u64 {
        self.qps.len() as u64
    }

    /// The steps so far, with times since 1970.
    pub(super) fn steps(&self, start_ns: u64) -> impl Iterator<Item = StepTruth> {
        let shifted = move |ns: u64| if ns == 0 { 0 } else { ns + start_ns };
        self.steps.iter().map(move |step| StepTruth {
            credit_ns: shifted(step.credit_ns),
            first_ns: shifted(step.first_ns),
            last_ns: shifted(step.last_ns),
            ..step.clone()
        })
    }

    /// What is slow.
    pub(super) fn stragglers(&self) -> impl Iterator<Item = StragglerTruth> {
        self.stragglers.iter().map(|placed| {
            let qp = placed.link(&self.plan) * usize::from(self.collective.qps);
            let id = &self.flows[qp][0].id;
            StragglerTruth {
                kind: placed.kind(),
                rank: placed.rank() as u32,
                host: id.src,
                dst_host: placed.is_link().then_some(id.dst),
                dst_qpn: placed.is_qp().then_some(id.dst_qpn),
            }
        })
    }
}
