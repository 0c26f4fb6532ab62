//! A group of the scenario, precomputed for lookups by every packet of its flows.

use super::delivery::Impairments;
use super::random::Random;
use super::scenario::group::{Group, Length, Operation, Receiver, Sender, Service, Tap};
use super::scenario::impairment::{FatalNak, Of};
use super::scenario::units::Probability;

/// Times are in nanoseconds since the scenario began, rates in bits a second.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) service: Service,
    pub(super) mtu: u32,
    /// Kinds of messages with cumulative weights.
    shares: Vec<(u64, Operation, Length)>,
    /// Rates with their start times, the first at 0; of a flow or of the group.
    rates: Vec<(u64, f64)>,
    pub(super) line_rate: Option<f64>,
    pub(super) start: u64,
    pub(super) stop: u64,
    pub(super) messages: u64,
    pub(super) depth: usize,
    pub(super) delay: u64,
    pub(super) jitter: u64,
    pub(super) near_delay: u64,
    pub(super) ack_every: u64,
    pub(super) ack_coalesce: u8,
    pub(super) ack_delay: u64,
    pub(super) receiver: Receiver,
    pub(super) window: u64,
    pub(super) nak_delay: u64,
    pub(super) sender: Sender,
    pub(super) sack: bool,
    pub(super) tap: Tap,
    pub(super) timeout: u64,
    pub(super) retries: u8,
    pub(super) requests: Option<Impairments>,
    pub(super) responses: Option<Impairments>,
    pub(super) ecn: Option<EcnRules>,
    pub(super) rnr: Option<(Probability, u8, u8)>,
    pub(super) refuse: Option<(u64, u8)>,
    /// Bytes of Ethernet, IP and UDP header.
    pub(super) header_bytes: u32,
}

#[derive(Clone, Debug)]
pub(super) struct EcnRules {
    pub(super) mark: Probability,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) cnp_interval: u64,
    pub(super) cut: f64,
    pub(super) recovery: u64,
}

impl Rules {
    pub(super) fn new(group: &Group, duration: Option<u64>, header_bytes: u32) -> Self {
        let mut total = 0;
        let mut share = |weight: u32, operation, message| {
            total += u64::from(weight);
            (total, operation, message)
        };
        let shares = if group.operations.is_empty() {
            vec![share(1, group.operation, group.message)]
        } else {
            let mut shares = Vec::new();
            for one in &group.operations {
                shares.push(share(one.weight, one.operation, one.message));
            }
            shares
        };
        let first = group.rate.or(group.group_rate).map_or(1, |rate| rate.0);
        let mut rates = vec![(0, first as f64)];
        rates.extend(
            group
                .rate_changes
                .iter()
                .map(|change| (change.at.0, change.rate.0 as f64)),
        );
        Self {
            service: group.service,
            mtu: group.mtu,
            shares,
            rates,
            line_rate: group.line_rate.map(|rate| rate.0 as f64),
            start: group.start.0,
            stop: group.stop.map(|stop| stop.0).or(duration).unwrap_or(u64::MAX),
            messages: group.messages.unwrap_or(u64::MAX),
            depth: group.depth,
            delay: group.delay.0,
            jitter: group.delay_jitter.0,
            near_delay: group.near_delay.0,
            ack_every: group.ack_every.unwrap_or(u64::MAX),
            ack_coalesce: group.ack_coalesce,
            ack_delay: group.ack_delay.0,
            receiver: group.receiver,
            window: group.window,
            nak_delay: group.nak_delay.0,
            sender: group.sender,
            sack: group.sack,
            tap: group.tap,
            timeout: group.timeout.0,
            retries: group.retries,
            requests: Impairments::new(group, Of::Requests),
            responses: Impairments::new(group, Of::Responses),
            ecn: group.ecn.as_ref().map(|ecn| EcnRules {
                mark: ecn.mark,
                from: ecn.from.0,
                until: ecn.until.map_or(u64::MAX, |until| until.0),
                cnp_interval: ecn.cnp_interval.0,
                cut: ecn.cut,
                recovery: ecn.recovery.0,
            }),
            rnr: group.rnr.as_ref().map(|rnr| (rnr.probability, rnr.timer, rnr.repeat)),
            refuse: group.refuse.as_ref().map(|refuse| {
                let code = match refuse.nak {
                    FatalNak::InvalidRequest => 1,
                    FatalNak::RemoteAccessError => 2,
                    FatalNak::RemoteOperationalError => 3,
                };
                (refuse.message, 0x60 | code)
            }),
            header_bytes,
        }
    }

    /// The same rules for the requests of the other side, with the delays of the tap exchanged.
    pub(super) fn turned(&self) -> Self {
        Self {
            delay: self.near_delay,
            near_delay: self.delay,
            ..self.clone()
        }
    }

    /// The kind and length of the next message.
    pub(super) fn draw_message(&self, random: &mut Random) -> (Operation, u32) {
        let total = self.shares.last().map_or(1, |(total, ..)| *total);
        let dice = if self.shares.len() > 1 { random.below(total) } else { 0 };
        let at = self.shares.partition_point(|(upto, ..)| *upto <= dice);
        let (operation, length) = self
            .shares
            .get(at)
            .map_or((Operation::Write, Length::Fixed(0)), |(_, operation, length)| {
                (*operation, *length)
            });
        let bytes = match length {
            Length::Fixed(bytes) => bytes,
            Length::Uniform(low, high) => random.between(low.into(), high.into()) as u32,
        };
        (operation, if operation.is_atomic() { 8 } else { bytes })
    }

    /// The rate at `now`.
    pub(super) fn rate(&self, now: u64) -> f64 {
        match self.rates.as_slice() {
            [(_, only)] => *only,
            rates => {
                let behind = rates.partition_point(|(at, _)| *at <= now);
                rates.get(behind.saturating_sub(1)).map_or(1.0, |(_, rate)| *rate)
            }
        }
    }

    /// The default spread of the starts of flows, in nanoseconds: the time of a packet, or of a message if
    /// those are paced; at most a second.
    pub(super) fn natural_spread(&self, weight: f64) -> u64 {
        let longest = self.shares.iter().map(|(.., length)| length.max()).max();
        let bytes = match self.line_rate {
            Some(_) => longest.unwrap_or(0).max(self.mtu),
            None => self.mtu,
        };
        picoseconds(u64::from(bytes), self.rate(0) * weight).min(1_000_000_000_000) / 1000
    }
}

/// The time in picoseconds for `bytes` at a rate in bits a second.
///
/// Division in floating point is exact to the last bit on every machine, and no sum overflows.
pub(super) fn picoseconds(bytes: u64, rate: f64) -> u64 {
    (bytes as f64 * 8e12 / rate.max(1.0)) as u64
}
