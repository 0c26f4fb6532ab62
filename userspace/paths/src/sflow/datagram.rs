//! Walks datagrams, samples and records.

use super::counters::{PfcRequests, PortCounters};
use super::counts::Counts;
use super::extended::Extended;
use super::sample::{Output, Point, Sample, known};
use super::words::{Unreadable, Words};
use super::{Item, reasons};
use crate::switch::Dropped;
use rocescope_wire::{Class, FrameLengths, LinkType, Packet, decode};
use std::collections::HashMap;
use std::net::IpAddr;

/// A sampled RoCEv2 packet.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// The packet.
    pub packet: Packet,
    /// One of this number of frames is sampled.
    pub rate: u32,
    /// Where it was sampled.
    pub point: Point,
    /// Index of the port at which it arrived; `None` if the switch does not know it.
    pub in_port: Option<u32>,
}

/// Reads datagrams.
#[derive(Debug)]
pub struct Reader {
    ports: [u16; 4],
    requests: PfcRequests,
    /// What was read so far.
    pub counts: Counts,
    agents: HashMap<(IpAddr, u32), Agent>,
    /// Dropped packets that were not reported so far, by source.
    unreported: HashMap<Point, u32>,
}

/// What is known of an agent, or of a part of one.
#[derive(Debug, Clone, Copy)]
struct Agent {
    /// Its next sequence number.
    next: u32,
    /// How long it has been running, in milliseconds.
    uptime: u32,
    /// How often it was seen to start again.
    restarts: u32,
}

/// Agents whose sequence numbers are kept, at most: their addresses are whatever a datagram claims.
const MAX_AGENTS: usize = 65_536;

/// Larger gaps are restarts of an agent.
const MAX_GAP: u32 = 1_000_000;

/// A datagram that is older by less than this was overtaken by another; otherwise its agent started again.
const MAX_OVERTAKEN_MS: u32 = 10_000;

/// What a sampled packet found in the queue by which it left a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSample {
    /// Address of the switch.
    pub switch: IpAddr,
    /// Index of the port.
    pub port: u32,
    /// The queue.
    pub queue: u32,
    /// Bytes before it in the queue.
    pub depth_bytes: Option<u32>,
    /// How long it was in the switch.
    pub transit_ns: Option<u32>,
}

impl Reader {
    /// Reads packets with these UDP destination ports.
    #[must_use]
    pub fn new(ports: [u16; 4], requests: PfcRequests) -> Self {
        Self {
            ports,
            requests,
            counts: Counts::default(),
            agents: HashMap::new(),
            unreported: HashMap::new(),
        }
    }

    /// Reads a datagram; passes on what it has of packets, ports and drops.
    pub fn datagram(&mut self, datagram: &[u8], mut take: impl FnMut(Item)) {
        self.counts.datagrams += 1;
        if let Err(reason) = self.walk(datagram, &mut take) {
            *self.counts.unreadable.entry(reason.name()).or_default() += 1;
        }
    }

    fn walk(&mut self, datagram: &[u8], take: &mut impl FnMut(Item)) -> Result<(), Unreadable> {
        let mut words = Words(datagram);
        if words.word()? != 5 {
            return Err(Unreadable::Version);
        }
        let agent: IpAddr = match words.word()? {
            1 => words.word()?.to_be_bytes().into(),
            2 => {
                let bytes = words.bytes(16, Unreadable::Short)?;
                let bytes: [u8; 16] = bytes.try_into().map_err(|_| Unreadable::Short)?;
                bytes.into()
            }
            _ => return Err(Unreadable::AgentAddress),
        };
        let part = words.word()?;
        let number = words.word()?;
        let uptime = words.word()?;
        // The counters of a datagram that others overtook are older than those that were read.
        let restarts = self.track((agent, part), number, uptime);
        let samples = words.word()?;
        for _ in 0..samples {
            let kind = words.word()?;
            let length = words.word()?;
            let sample = Sample {
                words: Words(words.bytes(length, Unreadable::SampleLength)?),
                is_expanded: matches!(kind, 3 | 4),
                agent,
                part,
                restarts: restarts.unwrap_or(0),
            };
            match kind {
                1 | 3 => self.flow_sample(sample, take)?,
                2 | 4 if restarts.is_some() => self.counter_sample(sample, take)?,
                2 | 4 => {
                    self.counts.counter_samples += 1;
                    self.counts.other_counter_samples += 1;
                }
                5 => self.dropped_packet(sample, take)?,
                _ => self.counts.other_samples += 1,
            }
        }
        Ok(())
    }

    /// Counts the datagrams between this and the last of an agent. Returns how often the agent was seen to start again;
    /// `None` if this datagram was overtaken, or there are too many agents.
    fn track(&mut self, agent: (IpAddr, u32), number: u32, uptime: u32) -> Option<u32> {
        if self.agents.len() >= MAX_AGENTS && !self.agents.contains_key(&agent) {
            return None;
        }
        let new = Agent {
            next: number.wrapping_add(1),
            uptime,
            restarts: 0,
        };
        let Some(known) = self.agents.insert(agent, new) else {
            return Some(0);
        };
        let gap = number.wrapping_sub(known.next);
        let is_behind = gap > u32::MAX / 2;
        // An agent that starts again counts from 0 and has been running for a shorter time.
        let is_overtaken = is_behind && known.uptime.wrapping_sub(uptime) < MAX_OVERTAKEN_MS;
        if is_overtaken {
            self.agents.insert(agent, known);
            return None;
        }
        if gap < MAX_GAP {
            self.counts.missing_datagrams += u64::from(gap);
        }
        let restarts = known
            .restarts
            .wrapping_add(u32::from(is_behind && uptime < known.uptime));
        self.agents.insert(agent, Agent { restarts, ..new });
        Some(restarts)
    }

    fn flow_sample(&mut self, sample: Sample<'_>, take: &mut impl FnMut(Item)) -> Result<(), Unreadable> {
        let mut words = sample.words;
        self.counts.flow_samples += 1;
        let point = sample.point(&mut words)?;
        let rate = words.word()?;
        // Pool, drops.
        words.skip(2)?;
        let [input, output] = sample.ports(&mut words)?;
        let in_port = input.index();
        let drop = match output {
            Output { format: 1, value } => Some(value),
            _ => None,
        };
        let mut flow = None;
        self.frames(words, |reader, protocol, bytes, original| {
            reader.counts.frames += 1;
            if rate == 0 {
                // How many packets it represents is unknown.
                return reader.not_roce("no_sampling_rate");
            }
            reader.frame(protocol, bytes, original, |packet| {
                flow = Some(key(&packet));
                take(Item::Packet(Sampled {
                    packet,
                    rate,
                    point,
                    in_port,
                }));
            });
        })?;
        let extended = self.extended(words)?;
        if let Some(reason) = drop {
            self.counts.drops += 1;
            let dropped = Dropped {
                switch: sample.agent,
                in_port,
                out_port: None,
                queue: extended.queue,
                reason: reasons::name(reason),
                detail: extended.detail,
                flow,
            };
            take(Item::Dropped(dropped, Some(rate)));
        } else if let (Some(out_port), Some(queue)) = (output.index(), extended.queue)
            && (extended.depth_bytes.is_some() || extended.transit_ns.is_some())
        {
            take(Item::Queue(QueueSample {
                switch: sample.agent,
                port: out_port,
                queue,
                depth_bytes: extended.depth_bytes,
                transit_ns: extended.transit_ns,
            }));
        }
        Ok(())
    }

    fn counter_sample(&mut self, sample: Sample<'_>, take: &mut impl FnMut(Item)) -> Result<(), Unreadable> {
        let mut words = sample.words;
        self.counts.counter_samples += 1;
        let (kind, index) = sample.point(&mut words)?.source;
        let mut port = PortCounters {
            index: (kind == 0).then_some(index),
            ..PortCounters::default()
        };
        let mut is_port = false;
        let requests = self.requests;
        self.records(words, |counts, format, record| {
            match port.read(format, record, requests)? {
                // The name alone is no reading.
                true => is_port |= format != 1005,
                false => counts.other_records += 1,
            }
            Ok(())
        })?;
        match port.index {
            Some(index) if is_port => take(Item::Port {
                switch: sample.agent,
                index,
                restarts: sample.restarts,
                port: Box::new(port),
            }),
            _ => self.counts.other_counter_samples += 1,
        }
        Ok(())
    }

    fn dropped_packet(&mut self, sample: Sample<'_>, take: &mut impl FnMut(Item)) -> Result<(), Unreadable> {
        let sample = Sample {
            is_expanded: true,
            ..sample
        };
        let mut words = sample.words;
        let point = sample.point(&mut words)?;
        let unreported = words.word()?;
        let ports = [words.word()?, words.word()?].map(known);
        let reason = words.word()?;
        let mut flow = None;
        self.frames(words, |reader, protocol, bytes, original| {
            if let Some(Class::Roce(packet)) = reader.class(protocol, bytes, original) {
                flow = Some(key(&packet));
            }
        })?;
        let extended = self.extended(words)?;
        self.counts.drops += 1;
        self.unreported(point, unreported);
        let dropped = Dropped {
            switch: sample.agent,
            in_port: ports[0],
            out_port: ports[1],
            queue: extended.queue,
            reason: reasons::name(reason),
            detail: extended.detail,
            flow,
        };
        take(Item::Dropped(dropped, None));
        Ok(())
    }

    /// Counts the drops that a source did not report since its last report.
    fn unreported(&mut self, point: Point, count: u32) {
        if self.unreported.len() >= MAX_AGENTS && !self.unreported.contains_key(&point) {
            return;
        }
        if let Some(before) = self.unreported.insert(point, count) {
            // A smaller number is that of an agent that started again.
            self.counts.unreported_drops += u64::from(count.checked_sub(before).unwrap_or(count));
        }
    }

    /// Passes on each record of a sample: its format and its content.
    fn records(
        &mut self,
        mut words: Words<'_>,
        mut take: impl FnMut(&mut Counts, u32, Words<'_>) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let records = words.word()?;
        for _ in 0..records {
            let format = words.word()?;
            let length = words.word()?;
            let record = Words(words.bytes(length, Unreadable::RecordLength)?);
            take(&mut self.counts, format, record)?;
        }
        Ok(())
    }

    /// What the records of a sample say of the way of its packet.
    fn extended(&mut self, words: Words<'_>) -> Result<Extended, Unreadable> {
        let mut extended = Extended::default();
        self.records(words, |counts, format, record| {
            if format != 1 && !extended.read(format, record)? {
                counts.other_records += 1;
            }
            Ok(())
        })?;
        Ok(extended)
    }

    /// Passes on the frames of a sample: the kind of their link, their first bytes, and their length.
    fn frames(
        &mut self,
        mut words: Words<'_>,
        mut take: impl FnMut(&mut Self, u32, &[u8], u32),
    ) -> Result<(), Unreadable> {
        let records = words.word()?;
        for _ in 0..records {
            let format = words.word()?;
            let length = words.word()?;
            let mut record = Words(words.bytes(length, Unreadable::RecordLength)?);
            if format != 1 {
                continue;
            }
            let protocol = record.word()?;
            let original = record.word()?;
            // Bytes that the agent removed from the end, such as the FCS.
            let stripped = record.word()?;
            let captured = record.word()?;
            let bytes = record.bytes(captured, Unreadable::HeaderLength)?;
            take(self, protocol, bytes, original.saturating_sub(stripped));
        }
        Ok(())
    }

    fn frame(&mut self, protocol: u32, bytes: &[u8], original: u32, take: impl FnOnce(Packet)) {
        let Some(class) = self.class(protocol, bytes, original) else {
            return self.not_roce("other_link_type");
        };
        match class {
            Class::Roce(packet) => {
                self.counts.packets += 1;
                take(packet);
            }
            Class::NotRoce(reason, _) => self.not_roce(reason.name()),
            Class::Malformed(reason, _) => self.not_roce(reason.name()),
            Class::Fragment(_) => self.not_roce("fragment"),
            Class::Snapped(_) => self.not_roce("snapped"),
        }
    }

    /// What a frame is; `None` on a link of another kind.
    fn class(&self, protocol: u32, bytes: &[u8], original: u32) -> Option<Class> {
        let link = match protocol {
            1 => LinkType::Ethernet,
            11 | 12 => LinkType::Raw,
            _ => return None,
        };
        let captured = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let lengths = FrameLengths {
            captured,
            original: original.max(captured),
        };
        Some(decode(bytes, link, lengths, self.ports))
    }

    fn not_roce(&mut self, reason: &'static str) {
        *self.counts.not_roce.entry(reason).or_default() += 1;
    }
}

/// The flow of a packet.
fn key(packet: &Packet) -> (IpAddr, IpAddr, u16, u32) {
    let [src, dst] = [packet.flow.src, packet.flow.dst].map(|bytes| IpAddr::from(bytes).to_canonical());
    (src, dst, packet.flow.udp_src_port, packet.flow.dst_qpn)
}
