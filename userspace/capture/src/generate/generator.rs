//! The generator: one event after another, in the order of time.

use super::background::Source;
use super::connection::Content;
use super::fabric::{Fabric, GSI_PORT};
use super::packet::{Numbers, Packet};
use super::random::Random;
use super::requester::NEVER;
use super::scenario::Scenario;
use super::scenario::units::Probability;
use super::tally::Totals;
use super::truth::{
    ConnectionTruth, EndTruth, FlowTruth, Losses, Series, SeriesWindow, Truth, Window, service_name,
};
use rocescope_wire::tunnel::Encapsulation;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The random stream of the mirror.
const MIRROR: u64 = 3;

/// A frame was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// When it passed the tap, in nanoseconds since 1970.
    pub at_ns: u64,
    /// How long it was on the wire; the buffer holds as much of it as the scenario's `snaplen`.
    pub original_bytes: u32,
}

/// Generates the frames of a scenario, in the order in which they pass the tap.
///
/// It opens nothing and asks no clock: the frames follow from scenario and seed alone. Memory is
/// bounded by the number of flows.
///
/// ```
/// use rocescope_capture::generate::{Generator, Scenario};
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
/// # Ok::<(), rocescope_capture::generate::ScenarioError>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    scenario: Scenario,
    seed: u64,
    fabric: Fabric,
    background: Vec<Source>,
    /// When something happens next, and to which connection; behind those, the background.
    agenda: BinaryHeap<Reverse<(u64, u32)>>,
    now: u64,
    start_ns: u64,
    mirror_loss: Probability,
    mirror: Random,
    totals: Totals,
    windows: Vec<Window>,
    encapsulated: [u64; Encapsulation::COUNT],
}

impl Generator {
    /// A generator of `scenario`. The same seed gives the same bytes, on every machine.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let fabric = Fabric::new(scenario, seed);
        let duration = scenario.duration.map(|duration| duration.0);
        let background: Vec<Source> = scenario
            .background()
            .map(|one| Source::new(one, duration))
            .collect();
        let connections = fabric
            .connections
            .iter()
            .zip(&fabric.links)
            .map(|(connection, link)| {
                fabric
                    .rules
                    .get(link.group)
                    .map_or(NEVER, |[forward, backward]| {
                        connection.due([forward, backward])
                    })
            });
        let sources = background
            .iter()
            .map(|source| source.due().unwrap_or(NEVER));
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
            totals: Totals::default(),
            windows: Vec::new(),
            encapsulated: [0; Encapsulation::COUNT],
            fabric,
        }
    }

    /// Writes the next frame into `frame`, over what is there. `None` when the scenario is over.
    pub fn next_frame(&mut self, frame: &mut Vec<u8>) -> Option<Frame> {
        if self
            .scenario
            .frames
            .is_some_and(|frames| self.totals.frames >= frames)
        {
            return None;
        }
        loop {
            let Reverse((at, index)) = *self.agenda.peek()?;
            if at == NEVER {
                return None;
            }
            self.now = self.now.max(at);
            let index = index as usize;
            let (next_at, original_bytes) = if index < self.fabric.connections.len() {
                self.connection(index, frame)?
            } else {
                self.background(index - self.fabric.connections.len(), frame)?
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
                self.totals.frames += 1;
                self.totals.first_ns.get_or_insert(at_ns);
                self.totals.last_ns = at_ns;
                return Some(Frame {
                    at_ns,
                    original_bytes,
                });
            }
        }
    }

    /// Lets something happen to a connection: when it wants to be asked next, and the length of
    /// the frame if one was written.
    fn connection(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let now = self.now;
        let link = self.fabric.links.get(index)?;
        let connection = self.fabric.connections.get_mut(index)?;
        let ledger = self.fabric.ledgers.get_mut(index)?;
        let rules = self.fabric.rules.get(link.group)?.each_ref();
        let layout = self.fabric.layouts.get_mut(link.group)?;
        let mut written = None;
        if let Some(tapped) = connection.turn(now, rules, &mut ledger.directions) {
            if let Some(outer) = &mut layout.outer {
                outer.count();
            }
            let from = tapped.from();
            let is_session = matches!(tapped.content, Content::Session(_));
            let gsi_psn = self
                .fabric
                .gsi_psns
                .get_mut(*link.hosts.get(from)? as usize)?;
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
                self.totals.count(&packet, frame_bytes, whole);
                let kind = outer.map_or(Encapsulation::None, super::frame::Outer::kind);
                if let Some(count) = self.encapsulated.get_mut(kind as usize) {
                    *count += 1;
                }
                let flows = if is_session {
                    &link.gsi_flows
                } else {
                    &link.flows
                };
                let flow = *flows.get(from)?;
                written = Some((
                    original,
                    flow,
                    frame_bytes,
                    packet.payload_bytes,
                    packet.ends_message,
                ));
            } else {
                self.totals.lost_by_mirror += 1;
                ledger.directions.get_mut(from)?.lost_by_mirror += 1;
            }
            if is_session {
                *gsi_psn = gsi_psn.wrapping_add(1);
            }
            connection.deliver(now, &tapped, fair, rules, &mut ledger.directions);
        }
        connection.close(now, rules);
        let next_at = connection.due(rules);
        let written = written.map(
            |(original, flow, frame_bytes, payload_bytes, ends_message)| {
                self.count_flow(flow as usize, frame_bytes, payload_bytes, ends_message);
                original
            },
        );
        Some((next_at, written))
    }

    fn background(&mut self, index: usize, frame: &mut Vec<u8>) -> Option<(u64, Option<u32>)> {
        let source = self.background.get_mut(index)?;
        source.write(frame);
        let next_at = source.due().unwrap_or(NEVER);
        if self.mirror_loss.hits(self.mirror.next()) {
            self.totals.lost_by_mirror += 1;
            return Some((next_at, None));
        }
        let original = frame.len() as u32;
        frame.truncate(self.scenario.snaplen as usize);
        self.totals.not_roce += 1;
        self.window().frames += 1;
        Some((next_at, Some(original)))
    }

    fn count_flow(
        &mut self,
        flow: usize,
        frame_bytes: u32,
        payload_bytes: u32,
        ends_message: bool,
    ) {
        let series = flow < self.scenario.truth.series;
        let window = self.window();
        window.frames += 1;
        window.volume.add(frame_bytes, payload_bytes);
        window.messages += u64::from(ends_message);
        let number = self.windows.len() as u64;
        let Some(flow) = self.fabric.flows.get_mut(flow) else {
            return;
        };
        flow.volume.add(frame_bytes, payload_bytes);
        flow.messages += u64::from(ends_message);
        if flow.window != number {
            flow.window = number;
            if series {
                flow.series.push((number, Default::default()));
            }
            if let Some(window) = self.windows.last_mut() {
                window.flows += 1;
            }
        }
        if series && let Some((_, volume)) = flow.series.last_mut() {
            volume.add(frame_bytes, payload_bytes);
        }
    }

    /// The window of this moment.
    fn window(&mut self) -> &mut Window {
        let length = self.scenario.truth.window.0.max(1);
        let at_ns = self.start_ns.saturating_add(self.now);
        let start_ns = at_ns - at_ns % length;
        if self
            .windows
            .last()
            .is_none_or(|window| window.start_ns != start_ns)
        {
            self.windows.push(Window {
                start_ns,
                ..Window::default()
            });
        }
        let last = self.windows.len() - 1;
        &mut self.windows[last]
    }

    /// The truth about all frames so far.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let options = &self.scenario.truth;
        let mut losses = Losses::default();
        let mut repeated = 0;
        let mut connections = Vec::new();
        for (index, ledger) in self.fabric.ledgers.iter().enumerate() {
            let directions = ledger.finished();
            for direction in &directions {
                losses.add(direction);
                repeated += direction.repeated_request_psns;
            }
            if index < options.connections {
                connections.extend(self.connection_truth(index, directions));
            }
        }
        let mut flows: Vec<_> = self
            .fabric
            .flows
            .iter()
            .filter(|flow| flow.volume.packets > 0)
            .collect();
        let series = self
            .fabric
            .flows
            .iter()
            .take(options.series)
            .map(|flow| Series {
                id: flow.id,
                windows: flow
                    .series
                    .iter()
                    .filter_map(|(number, volume)| {
                        let window = self.windows.get(*number as usize - 1)?;
                        Some(SeriesWindow {
                            start_ns: window.start_ns,
                            volume: *volume,
                            frame_bps: volume.frame_bytes as f64 * 8e9 / options.window.0 as f64,
                        })
                    })
                    .collect(),
            })
            .collect();
        let flow_count = flows.len() as u64;
        flows.sort_by_key(|flow| Reverse(flow.volume.frame_bytes));
        flows.truncate(options.top_flows);
        let totals = &self.totals;
        Truth {
            scenario: self.scenario.name.clone(),
            seed: self.seed,
            frames: totals.frames,
            roce_packets: totals.frames - totals.not_roce,
            not_roce: totals.not_roce,
            icrc_bad: totals.icrc_bad,
            icrc_unverifiable: totals.icrc_unverifiable,
            messages: totals.messages,
            flows: flow_count,
            repeated_request_psns: repeated,
            opcodes: Truth::opcodes(totals),
            aeth: totals.aeth.clone(),
            rnr_timers: totals
                .rnr_timers
                .iter()
                .map(|(timer, count)| (timer.to_string(), *count))
                .collect(),
            top_flows: flows
                .into_iter()
                .map(|flow| FlowTruth {
                    id: flow.id,
                    volume: flow.volume,
                    messages: flow.messages,
                })
                .collect(),
            first_ns: totals.first_ns.unwrap_or(self.start_ns),
            last_ns: totals.last_ns,
            losses,
            encapsulations: Encapsulation::NAMES
                .into_iter()
                .zip(self.encapsulated)
                .filter(|(_, count)| *count > 0)
                .collect(),
            window_ns: options.window.0,
            windows: self.windows.clone(),
            series,
            connections_total: self.fabric.links.len() as u64,
            connections,
        }
    }

    fn connection_truth(
        &self,
        index: usize,
        directions: [super::tally::Direction; 2],
    ) -> Option<ConnectionTruth> {
        let link = self.fabric.links.get(index)?;
        let group = self.fabric.groups.get(link.group)?;
        let end = |side: usize| {
            let flow = self.fabric.flows.get(*link.flows.get(side)? as usize)?;
            let asks = side == 0 || group.bidirectional;
            Some(EndTruth {
                ip: flow.id.src,
                qpn: *link.ends.qpns.get(side)?,
                udp_src_port: flow.id.udp_src_port,
                start_psn: if asks {
                    link.ends.start_psns.get(side).copied()
                } else {
                    None
                },
            })
        };
        let [a_to_b, b_to_a] = directions;
        Some(ConnectionTruth {
            group: group.name.clone(),
            service: service_name(group.service),
            cm: group.cm,
            path_mtu: group.mtu,
            vlan: group.vlan.clone(),
            a: end(0)?,
            b: end(1)?,
            a_to_b,
            b_to_a,
        })
    }
}
