//! The generator: processes events in the order of time.

use super::account::{Account, Arrival};
use super::background::Source;
use super::collective;
use super::endpoints::{Endpoints, GSI_PORT};
use super::frame::Outer;
use super::lost::LossPoint;
use super::mirror::MirrorPort;
use super::packet::{Numbers, Packet};
use super::random::Random;
use super::report;
use super::requester::NEVER;
use super::scenario::Scenario;
use super::scenario::units::Probability;
use super::tapped::{Cause, Content, Passage, TapView};
use super::truth::Truth;
use super::uet;
use rocescope_wire::tunnel::Encapsulation;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// The random stream of what the mirror copies.
const COPIES: u64 = 4;
/// How long after a frame the mirror sends its copy if the scenario does not say, in nanoseconds.
const COPY_NS: u64 = 1_000;

/// A written frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// When it passed the tap, in nanoseconds since 1970.
    pub at_ns: u64,
    /// Its length on the wire; the buffer has up to the scenario's `snaplen` of it.
    pub original_bytes: u32,
}

/// Generates the frames of a scenario, in the order in which they pass the tap.
///
/// It does no I/O and reads no clock: the frames depend on scenario and seed alone. Memory is bounded
/// by the number of flows.
///
/// ```
/// use rocescope_generate::{Generator, Scenario};
///
/// let scenario = Scenario::parse(
///     r#"
///     [[flows]]
///     src = "10.0.0.1"
///     dst = "10.0.0.2"
///     rate = "1Gbit/s"
///     message = 4096
///     messages = 2
///     "#,
/// )?;
/// let mut generator = Generator::new(&scenario, 1);
/// let mut frame = Vec::new();
/// let mut frames = 0;
/// while generator.next_frame(&mut frame).is_some() {
///     frames += 1;
/// }
/// // Two messages of four packets, each acknowledged.
/// assert_eq!(frames, 10);
/// assert_eq!(generator.truth().messages, 2);
/// # Ok::<(), rocescope_generate::ScenarioError>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    scenario: Scenario,
    seed: u64,
    endpoints: Endpoints,
    background: Vec<Source>,
    uet: Vec<uet::Source>,
    collectives: Vec<collective::Source>,
    /// The time and connection of the next event; indexes after the connections are background, then UET, then
    /// collectives.
    agenda: BinaryHeap<Reverse<(u64, u32)>>,
    now: u64,
    start_ns: u64,
    mirror: MirrorPort,
    /// The side that sent the last frame.
    side: usize,
    copy_hop: bool,
    mirror_copies: Probability,
    copy_ns: u64,
    copier: Random,
    /// The copies that the mirror has yet to send: when, of which connection.
    copies: VecDeque<(u64, usize, TapView)>,
    account: Account,
}

impl Generator {
    /// A generator of `scenario`. The same seed gives the same bytes, on every machine.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let endpoints = Endpoints::new(scenario, seed);
        let duration = scenario.duration.map(|duration| duration.0);
        let background: Vec<Source> = scenario.background().map(|one| Source::new(one, duration)).collect();
        let connections = endpoints
            .connections
            .iter()
            .zip(&endpoints.links)
            .map(|(connection, link)| {
                endpoints
                    .rules
                    .get(link.group)
                    .map_or(NEVER, |[forward, backward]| connection.due([forward, backward]))
            });
        let sources = background.iter().map(|source| source.due().unwrap_or(NEVER));
        let uet: Vec<uet::Source> = (0..)
            .zip(scenario.uet())
            .map(|(at, one)| uet::Source::new(one, seed, at))
            .collect();
        let contexts = uet.iter().map(|source| source.due().unwrap_or(NEVER));
        let collectives: Vec<collective::Source> = (0..)
            .zip(scenario.collectives())
            .map(|(at, one)| collective::Source::new(one, seed, at))
            .collect();
        let jobs = collectives.iter().map(|source| source.due().unwrap_or(NEVER));
        let agenda = connections
            .chain(sources)
            .chain(contexts)
            .chain(jobs)
            .zip(0..)
            .map(Reverse)
            .collect();
        Self {
            scenario: scenario.clone(),
            seed,
            background,
            uet,
            collectives,
            agenda,
            now: 0,
            start_ns: scenario.start_unix_s.saturating_mul(1_000_000_000),
            mirror: MirrorPort::new(&scenario.mirror, seed),
            side: 0,
            copy_hop: scenario.mirror.copy_hop,
            mirror_copies: scenario.mirror.copies,
            copy_ns: scenario.mirror.copy_delay.map_or(COPY_NS, |delay| delay.0),
            copier: Random::new(seed, COPIES),
            copies: VecDeque::new(),
            account: Account::new(scenario),
            endpoints,
        }
    }

    /// Overwrites `frame` with the next frame. `None` when the scenario has ended.
    pub fn next_frame(&mut self, frame: &mut Vec<u8>) -> Option<Frame> {
        if self.scenario.frames.is_some_and(|frames| self.account.frames >= frames) {
            return None;
        }
        loop {
            let Reverse((at, index)) = *self.agenda.peek()?;
            let copied_at = self.copies.front().map_or(NEVER, |(at, ..)| *at);
            if at.min(copied_at) == NEVER {
                return None;
            }
            if copied_at < at {
                let (at, index, tapped) = self.copies.pop_front()?;
                self.now = self.now.max(at);
                let (_, original_bytes) = self.write(index, &tapped, frame)?;
                let at_ns = self.stamp(tapped.from());
                return Some(Frame { at_ns, original_bytes });
            }
            self.now = self.now.max(at);
            let index = index as usize;
            let after = self.endpoints.connections.len();
            let (next_at, original_bytes) = if index < after {
                self.connection(index, frame)?
            } else if index - after < self.background.len() {
                self.background(index - after, frame)?
            } else if index - after - self.background.len() < self.uet.len() {
                self.uet(index - after - self.background.len(), frame)?
            } else {
                self.collective(index - after - self.background.len() - self.uet.len(), frame)?
            };
            if let Some(mut top) = self.agenda.peek_mut() {
                if next_at == NEVER {
                    PeekMut::pop(top);
                } else {
                    top.0.0 = next_at;
                }
            }
            if let Some(original_bytes) = original_bytes {
                let at_ns = self.stamp(self.side);
                return Some(Frame { at_ns, original_bytes });
            }
        }
    }

    /// The time that the capture gives to a frame of this side.
    const fn stamp(&self, side: usize) -> u64 {
        self.start_ns.saturating_add(self.mirror.stamp(self.now, side))
    }

    /// Executes the next event of a connection. Returns the time of its following event, and the length
    /// of the frame if one was written.
    fn connection(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let now = self.now;
        let connection = self.endpoints.connections.get_mut(index)?;
        let ledger = self.endpoints.ledgers.get_mut(index)?;
        let link = self.endpoints.links.get(index)?;
        let group = link.group;
        let rules = self.endpoints.rules.get(group)?.each_ref();
        let tapped = connection.turn(now, rules, &mut ledger.directions);
        let mut written = None;
        if let Some(tapped) = tapped {
            let from = tapped.from();
            self.side = from;
            let delivered = !self.mirror.loses(now);
            let passes = rules[0].tap.sees(from);
            if let Some(outer) = &mut self.endpoints.layouts.get_mut(group)?.outer {
                outer.count();
            }
            let mut passage = Passage::default();
            if passes && delivered {
                let (seen, original) = self.write(index, &tapped, frame)?;
                passage = seen;
                written = Some(original);
                let is_copied = self.mirror_copies.hits(self.copier.next());
                if is_copied && !matches!(tapped.content, Content::Session(_)) {
                    let cause = Cause::MirrorCopy;
                    self.copies
                        .push_back((now + self.copy_ns, index, TapView { cause, ..tapped }));
                }
            } else if passes {
                self.account.lost_by_mirror += 1;
                let connection = self.endpoints.connections.get(index)?;
                let direction = self.endpoints.ledgers.get_mut(index)?.directions.get_mut(from)?;
                direction.lost_by_mirror += 1;
                connection.lose(now, &tapped, LossPoint::Mirror, direction);
            }
            let host = *self.endpoints.links.get(index)?.hosts.get(from)? as usize;
            if matches!(tapped.content, Content::Session(_)) {
                let gsi_psn = self.endpoints.gsi_psns.get_mut(host)?;
                *gsi_psn = gsi_psn.wrapping_add(1);
            }
            let rules = self.endpoints.rules.get(group)?.each_ref();
            let ledger = self.endpoints.ledgers.get_mut(index)?;
            let connection = self.endpoints.connections.get_mut(index)?;
            connection.deliver(now, &tapped, passage, rules, &mut ledger.directions);
        }
        let rules = self.endpoints.rules.get(group)?.each_ref();
        let connection = self.endpoints.connections.get_mut(index)?;
        connection.close(now, rules);
        let next_at = connection.due(rules);
        Some((next_at, written))
    }

    /// Writes and counts a packet of a connection. Returns how it passed, and the length of the frame.
    fn write(&mut self, index: usize, tapped: &TapView, frame: &mut Vec<u8>) -> Option<(Passage, u32)> {
        let now = self.now;
        let link = self.endpoints.links.get(index)?;
        let ledger = self.endpoints.ledgers.get_mut(index)?;
        let rules = self.endpoints.rules.get(link.group)?.each_ref();
        let layout = self.endpoints.layouts.get(link.group)?;
        let from = tapped.from();
        let is_session = matches!(tapped.content, Content::Session(_));
        let numbers = Numbers {
            qpn: *link.ends.qpns.get(from)?,
            peer_qpn: *link.ends.qpns.get(1 - from)?,
            start_psn: *link.ends.start_psns.get(tapped.channel)?,
            gsi_psn: *self.endpoints.gsi_psns.get(*link.hosts.get(from)? as usize)?,
        };
        let packet = Packet::new(tapped, numbers, &link.ends, rules[tapped.channel & 1]);
        let frame_bytes = layout.header_bytes as u32 + packet.bytes();
        let flows = if is_session { &link.gsi_flows } else { &link.flows };
        let flow = *flows.get(from)? as usize;
        let own_port = self.endpoints.flows.get(flow)?.id.udp_src_port;
        let port = tapped.delivery.port.unwrap_or(own_port);
        let is_hop = self.copy_hop && tapped.cause == Cause::MirrorCopy;
        let passage = if is_hop {
            Passage::default()
        } else {
            ledger.count(now, tapped, &packet, frame_bytes, port, rules[0].service)
        };
        let header = link.headers.get(from)?;
        let port = if is_session {
            Some(GSI_PORT)
        } else {
            tapped.delivery.port
        };
        let original = layout.write(frame, header, port, &packet, self.scenario.snaplen);
        if is_hop {
            layout.hop(frame);
            return Some((passage, original));
        }
        let outer = layout.outer.as_ref();
        let mirrored = outer.is_none_or(|outer| frame_bytes <= outer.truncate);
        let whole = frame.len() == original as usize && mirrored;
        let arrival = Arrival {
            at_ns: self.start_ns.saturating_add(now),
            frame_bytes,
            whole,
            encapsulation: outer.map_or(Encapsulation::None, Outer::kind),
            series: flow < self.scenario.truth.series,
        };
        let flow = self.endpoints.flows.get_mut(flow)?;
        self.account.packet(&packet, arrival, flow);
        Some((passage, original))
    }

    fn background(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let source = self.background.get_mut(index)?;
        source.write(frame);
        let next_at = source.due().unwrap_or(NEVER);
        if self.mirror.loses(self.now) {
            self.account.lost_by_mirror += 1;
            return Some((next_at, None));
        }
        let original = frame.len() as u32;
        frame.truncate(self.scenario.snaplen as usize);
        self.account.background(self.start_ns.saturating_add(self.now));
        Some((next_at, Some(original)))
    }

    fn uet(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let is_delivered = !self.mirror.loses(self.now);
        let source = self.uet.get_mut(index)?;
        source.write(frame, is_delivered);
        let next_at = source.due().unwrap_or(NEVER);
        if !is_delivered {
            self.account.lost_by_mirror += 1;
            return Some((next_at, None));
        }
        let original = frame.len() as u32;
        frame.truncate(self.scenario.snaplen as usize);
        self.account.background(self.start_ns.saturating_add(self.now));
        Some((next_at, Some(original)))
    }

    fn collective(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let is_delivered = !self.mirror.loses(self.now);
        let at_ns = self.start_ns.saturating_add(self.now);
        let account = is_delivered.then_some(&mut self.account);
        let source = self.collectives.get_mut(index)?;
        let original_bytes = source.write(frame, self.scenario.snaplen, at_ns, account)?;
        let next_at = source.due().unwrap_or(NEVER);
        if !is_delivered {
            self.account.lost_by_mirror += 1;
        }
        Some((next_at, is_delivered.then_some(original_bytes)))
    }

    /// The truth about all frames so far.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let mut truth = report::truth(
            &self.scenario,
            self.seed,
            &self.endpoints,
            &self.collectives,
            &self.account,
        );
        truth.pdcs = self.uet.iter().flat_map(uet::Source::truth).collect();
        let steps = self.collectives.iter().flat_map(|source| source.steps(self.start_ns));
        truth.steps = steps.collect();
        truth.stragglers = self
            .collectives
            .iter()
            .flat_map(collective::Source::stragglers)
            .collect();
        truth
    }
}
