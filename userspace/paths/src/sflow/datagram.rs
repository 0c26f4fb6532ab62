//! Datagrams, samples and records.

use rocescope_wire::{Class, FrameLengths, LinkType, Packet, decode};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// What was read, by kind and reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Datagrams.
    pub datagrams: u64,
    /// Datagrams that are missing by their sequence numbers.
    pub missing_datagrams: u64,
    /// Datagrams that could not be read to their end, by reason.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// Samples of frames.
    pub flow_samples: u64,
    /// Samples of counters, which have no frames.
    pub counter_samples: u64,
    /// Samples of other kinds.
    pub other_samples: u64,
    /// Records with the bytes of a frame.
    pub frames: u64,
    /// Records of other kinds.
    pub other_records: u64,
    /// Frames that are no RoCEv2 packets, by reason.
    pub not_roce: BTreeMap<&'static str, u64>,
    /// RoCEv2 packets.
    pub packets: u64,
}

/// A sampled RoCEv2 packet.
#[derive(Debug, Clone, Copy)]
pub struct Sampled {
    /// The packet.
    pub packet: Packet,
    /// One of this number of frames is sampled.
    pub rate: u32,
    /// Where it was sampled.
    pub point: Point,
}

/// Where frames are sampled: a data source of an agent, such as a port of a switch. A packet passes several on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// Address of the agent.
    pub agent: IpAddr,
    /// Its part (`sub_agent_id`).
    pub part: u32,
    /// Kind and index of the data source.
    pub source: (u32, u32),
}

/// A sample of frames, and its agent.
#[derive(Clone, Copy)]
struct Sample<'a> {
    words: Words<'a>,
    /// Whether indices have words of their own.
    is_expanded: bool,
    agent: IpAddr,
    part: u32,
}

/// Reads datagrams.
#[derive(Debug)]
pub struct Reader {
    ports: [u16; 4],
    /// What was read so far.
    pub counts: Counts,
    /// Next sequence number by agent and its part.
    next: HashMap<(IpAddr, u32), u32>,
}

/// Agents whose sequence numbers are kept, at most: their addresses are whatever a datagram claims.
const MAX_AGENTS: usize = 65_536;

/// Larger gaps are restarts of an agent.
const MAX_GAP: u32 = 1_000_000;

/// Why a datagram cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    Short,
    Version,
    AgentAddress,
    SampleLength,
    RecordLength,
    HeaderLength,
}

impl Unreadable {
    const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Version => "version",
            Self::AgentAddress => "agent_address",
            Self::SampleLength => "sample_length",
            Self::RecordLength => "record_length",
            Self::HeaderLength => "header_length",
        }
    }
}

/// Big-endian words of a slice.
#[derive(Debug, Clone, Copy)]
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<u32, Unreadable> {
        let (word, rest) = self.0.split_first_chunk().ok_or(Unreadable::Short)?;
        self.0 = rest;
        Ok(u32::from_be_bytes(*word))
    }

    fn skip(&mut self, words: usize) -> Result<(), Unreadable> {
        self.0 = self.0.get(words * 4..).ok_or(Unreadable::Short)?;
        Ok(())
    }

    /// The next bytes, for which `or` names a wrong length.
    fn bytes(&mut self, length: u32, or: Unreadable) -> Result<&'a [u8], Unreadable> {
        let length = usize::try_from(length).map_err(|_| or)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(or)?;
        self.0 = rest;
        Ok(bytes)
    }
}

impl Reader {
    /// Reads packets with these UDP destination ports.
    #[must_use]
    pub fn new(ports: [u16; 4]) -> Self {
        Self {
            ports,
            counts: Counts::default(),
            next: HashMap::new(),
        }
    }

    /// Reads a datagram; passes on each RoCEv2 packet.
    pub fn datagram(&mut self, datagram: &[u8], mut take: impl FnMut(&Sampled)) {
        self.counts.datagrams += 1;
        if let Err(reason) = self.walk(datagram, &mut take) {
            *self.counts.unreadable.entry(reason.name()).or_default() += 1;
        }
    }

    fn walk(&mut self, datagram: &[u8], take: &mut impl FnMut(&Sampled)) -> Result<(), Unreadable> {
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
        self.track((agent, part), number);
        // Uptime.
        words.skip(1)?;
        let samples = words.word()?;
        for _ in 0..samples {
            let kind = words.word()?;
            let length = words.word()?;
            let sample = Sample {
                words: Words(words.bytes(length, Unreadable::SampleLength)?),
                is_expanded: kind == 3,
                agent,
                part,
            };
            match kind {
                1 | 3 => self.flow_sample(sample, take)?,
                2 | 4 => self.counts.counter_samples += 1,
                _ => self.counts.other_samples += 1,
            }
        }
        Ok(())
    }

    /// Counts the datagrams between this and the last of an agent.
    fn track(&mut self, agent: (IpAddr, u32), number: u32) {
        if self.next.len() >= MAX_AGENTS && !self.next.contains_key(&agent) {
            return;
        }
        if let Some(expected) = self.next.insert(agent, number.wrapping_add(1)) {
            let gap = number.wrapping_sub(expected);
            if gap < MAX_GAP {
                self.counts.missing_datagrams += u64::from(gap);
            }
        }
    }

    fn flow_sample(&mut self, sample: Sample<'_>, take: &mut impl FnMut(&Sampled)) -> Result<(), Unreadable> {
        let Sample {
            mut words,
            is_expanded,
            agent,
            part,
        } = sample;
        self.counts.flow_samples += 1;
        // Number.
        words.skip(1)?;
        // The expanded form has two words for each of source, input and output.
        let source = match is_expanded {
            true => (words.word()?, words.word()?),
            false => {
                let source = words.word()?;
                (source >> 24, source & 0xff_ffff)
            }
        };
        let point = Point { agent, part, source };
        let rate = words.word()?;
        // Pool, drops, input, output.
        words.skip(if is_expanded { 6 } else { 4 })?;
        let records = words.word()?;
        for _ in 0..records {
            let kind = words.word()?;
            let length = words.word()?;
            let mut record = Words(words.bytes(length, Unreadable::RecordLength)?);
            if kind != 1 {
                self.counts.other_records += 1;
                continue;
            }
            self.counts.frames += 1;
            if rate == 0 {
                // How many packets it represents is unknown.
                self.not_roce("no_sampling_rate");
                continue;
            }
            let protocol = record.word()?;
            let original = record.word()?;
            // Bytes that the agent removed from the end, such as the FCS.
            let stripped = record.word()?;
            let captured = record.word()?;
            let bytes = record.bytes(captured, Unreadable::HeaderLength)?;
            self.frame(protocol, bytes, original.saturating_sub(stripped), |packet| {
                take(&Sampled { packet, rate, point });
            });
        }
        Ok(())
    }

    fn frame(&mut self, protocol: u32, bytes: &[u8], original: u32, take: impl FnOnce(Packet)) {
        let link = match protocol {
            1 => LinkType::Ethernet,
            11 | 12 => LinkType::Raw,
            _ => return self.not_roce("other_link_type"),
        };
        let captured = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let lengths = FrameLengths {
            captured,
            original: original.max(captured),
        };
        match decode(bytes, link, lengths, self.ports) {
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

    fn not_roce(&mut self, reason: &'static str) {
        *self.counts.not_roce.entry(reason).or_default() += 1;
    }
}
