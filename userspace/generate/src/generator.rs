//! The generator: processes events in the order of time.

use super::account::{Account, Arrival};
use super::background::Source;
use super::endpoints::{Endpoints, GSI_PORT};
use super::frame::Outer;
use super::lost::LossPoint;
use super::packet::{Numbers, Packet};
use super::random::Random;
use super::report;
use super::requester::NEVER;
use super::scenario::Scenario;
use super::scenario::units::Probability;
use super::tapped::Content;
use super::truth::Truth;
use rocescope_wire::tunnel::Encapsulation;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The random stream of the mirror.
const MIRROR: u64 = 3;

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
    /// The time and connection of the next event; indexes after the connections are background.
    agenda: BinaryHeap<Reverse<(u64, u32)>>,
    now: u64,
    start_ns: u64,
    mirror_loss: Probability,
    mirror: Random,
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
        let agenda = connections.chain(sources).zip(0..).map(Reverse).collect();
        Self {
            scenario: scenario.clone(),
            seed,
            background,
            agenda,
            now: 0,
            start_ns: scenario.start_unix_s.saturating_mul(1_000_000_000),
            mirror_loss: scenario.mirror.loss,
            mirror: Random::new(seed, MIRROR),
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
            if at == NEVER {
                return None;
            }
            self.now = self.now.max(at);
            let index = index as usize;
            let (next_at, original_bytes) = if index < self.endpoints.connections.len() {
                self.connection(index, frame)?
            } else {
                self.background(index - self.endpoints.connections.len(), frame)?
            };
            if let Some(mut top) = self.agenda.peek_mut() {
                if next_at == NEVER {
                    PeekMut::pop(top);
                } else {
                    top.0.0 = next_at;
                }
            }
            if let Some(original_bytes) = original_bytes {
                let at_ns = self.start_ns.saturating_add(self.now);
                return Some(Frame { at_ns, original_bytes });
            }
        }
    }

    /// Executes the next event of a connection. Returns the time of its following event, and the length
    /// of the frame if one was written.
    fn connection(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let now = self.now;
        let link = self.endpoints.links.get(index)?;
        let connection = self.endpoints.connections.get_mut(index)?;
        let ledger = self.endpoints.ledgers.get_mut(index)?;
        let rules = self.endpoints.rules.get(link.group)?.each_ref();
        let layout = self.endpoints.layouts.get_mut(link.group)?;
        let mut written = None;
        if let Some(tapped) = connection.turn(now, rules, &mut ledger.directions) {
            if let Some(outer) = &mut layout.outer {
                outer.count();
            }
            let from = tapped.from();
            let is_session = matches!(tapped.content, Content::Session(_));
            let gsi_psn = self.endpoints.gsi_psns.get_mut(*link.hosts.get(from)? as usize)?;
            let seen = !self.mirror_loss.hits(self.mirror.next());
            let mut fair = false;
            if seen {
                let numbers = Numbers {
                    qpn: *link.ends.qpns.get(from)?,
                    peer_qpn: *link.ends.qpns.get(1 - from)?,
                    start_psn: *link.ends.start_psns.get(tapped.channel)?,
                    gsi_psn: *gsi_psn,
                };
                let packet = Packet::new(&tapped, numbers, &link.ends, rules[tapped.channel & 1]);
                let frame_bytes = layout.header_bytes as u32 + packet.bytes();
                fair = ledger.count(now, &tapped, &packet, frame_bytes, rules[0].service);
                let header = link.headers.get(from)?;
                let port = is_session.then_some(GSI_PORT);
                let original = layout.write(frame, header, port, &packet, self.scenario.snaplen);
                let outer = layout.outer.as_ref();
                let mirrored = outer.is_none_or(|outer| frame_bytes <= outer.truncate);
                let whole = frame.len() == original as usize && mirrored;
                let flows = if is_session { &link.gsi_flows } else { &link.flows };
                let flow = *flows.get(from)? as usize;
                let arrival = Arrival {
                    at_ns: self.start_ns.saturating_add(now),
                    frame_bytes,
                    whole,
                    encapsulation: outer.map_or(Encapsulation::None, Outer::kind),
                    series: flow < self.scenario.truth.series,
                };
                let flow = self.endpoints.flows.get_mut(flow)?;
                self.account.packet(&packet, arrival, flow);
                written = Some(original);
            } else {
                self.account.lost_by_mirror += 1;
                let direction = ledger.directions.get_mut(from)?;
                direction.lost_by_mirror += 1;
                connection.lose(now, &tapped, LossPoint::Mirror, direction);
            }
            if is_session {
                *gsi_psn = gsi_psn.wrapping_add(1);
            }
            connection.deliver(now, &tapped, fair, rules, &mut ledger.directions);
        }
        connection.close(now, rules);
        let next_at = connection.due(rules);
        Some((next_at, written))
    }

    fn background(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let source = self.background.get_mut(index)?;
        source.write(frame);
        let next_at = source.due().unwrap_or(NEVER);
        if self.mirror_loss.hits(self.mirror.next()) {
            self.account.lost_by_mirror += 1;
            return Some((next_at, None));
        }
        let original = frame.len() as u32;
        frame.truncate(self.scenario.snaplen as usize);
        self.account.background(self.start_ns.saturating_add(self.now));
        Some((next_at, Some(original)))
    }

    /// The truth about all frames so far.
    #[must_use]
    pub fn truth(&self) -> Truth {
        report::truth(&self.scenario, self.seed, &self.endpoints, &self.account)
    }
}
