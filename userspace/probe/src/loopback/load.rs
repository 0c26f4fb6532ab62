//! What others send over the NICs, from byte counters: what the counters grew by, without the tests' own bytes.

use super::Writes;
use crate::types::Nanos;
use std::collections::BTreeMap;

/// A NIC is busy above this share of its line rate,
const BUSY: f64 = 0.01;
/// or above this, if its line rate is unknown: bits per second.
const BUSY_BPS: f64 = 1e8;
/// Below this time the increase of a counter proves nothing.
const SHORTEST: Nanos = Nanos(5_000_000);
/// Bytes of the tests that show whether a NIC counts them: far more than its management sends.
const MUCH: u64 = 16 << 20;

/// What the tests wrote, by NIC: bytes, and the packets that they are in where only packets are counted.
///
/// A NIC counts a message packet by packet, the tests when it has completed. So they also keep what is in flight: a
/// slow NIC has a message in flight through several looks at its counters. Traffic of others that is less than that in
/// the time between two looks stays unnoticed while the NIC is tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own(BTreeMap<String, Tally>);

/// Bytes of a packet where a NIC counts only packets: RoCE's default MTU.
pub const PACKET: u64 = 1_024;

/// Packets for each acknowledgment at most, of drivers that count only packets: rxe's `RXE_MAX_PKT_PER_ACK`.
const ACKNOWLEDGED: u64 = 64;

/// What the tests wrote over a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    completed: Amount,
    /// Was in flight when a test ended.
    abandoned: Amount,
    in_flight: Amount,
}

/// Bytes, and their packets with those of the acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    bytes: u64,
    packets: u64,
}

impl Amount {
    fn add(&mut self, messages: u64, bytes: u64, packet_bytes: u64) {
        let data = bytes.div_ceil(packet_bytes.max(1));
        let packets = data + data.div_ceil(ACKNOWLEDGED).max(1);
        self.bytes += messages * bytes;
        self.packets += messages * packets;
    }

    /// What a counter like that of this sample shows of it.
    const fn counted(self, sample: &Sample) -> u64 {
        if sample.is_packets {
            self.packets * PACKET
        } else {
            self.bytes
        }
    }
}

impl Own {
    /// Messages of a NIC are in flight from now on, in packets with this many bytes of payload.
    pub fn post(&mut self, nic: &str, writes: Writes, packet_bytes: u64) {
        let in_flight = &mut self.of_mut(nic).in_flight;
        in_flight.add(writes.depth.into(), writes.size, packet_bytes);
    }

    /// A message of a NIC has completed, and another one is in flight instead.
    pub fn add(&mut self, nic: &str, bytes: u64, packet_bytes: u64) {
        self.of_mut(nic).completed.add(1, bytes, packet_bytes);
    }

    /// The test of a NIC has ended: what is in flight does not complete, but may have been counted.
    pub fn abandon(&mut self, nic: &str) {
        let tally = self.of_mut(nic);
        let Amount { bytes, packets } = std::mem::take(&mut tally.in_flight);
        tally.abandoned.bytes += bytes;
        tally.abandoned.packets += packets;
    }

    /// Bytes of a NIC in messages that have completed.
    #[must_use]
    pub fn of(&self, nic: &str) -> u64 {
        self.0.get(nic).map_or(0, |tally| tally.completed.bytes)
    }

    /// Bytes of all NICs in messages that have completed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().map(|tally| tally.completed.bytes).sum()
    }

    fn of_mut(&mut self, nic: &str) -> &mut Tally {
        self.0.entry(nic.to_owned()).or_default()
    }

    fn tally(&self, nic: &str) -> Tally {
        self.0.get(nic).copied().unwrap_or_default()
    }
}

/// The counters of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The NIC.
    pub nic: String,
    /// Bytes that its ports sent.
    pub sent_bytes: u64,
    /// Bytes that they received.
    pub received_bytes: u64,
    /// Its line rate, in bits per second; 0 if unknown.
    pub rate_bps: u64,
    /// Whether only packets are counted: the bytes are [`PACKET`] for each.
    pub is_packets: bool,
}

/// What others send and receive over a NIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The NIC.
    pub nic: String,
    /// Bits per second that it sends.
    pub sent_bps: f64,
    /// Bits per second that it receives.
    pub received_bps: f64,
    /// Whether that is above 1 % of its line rate.
    pub is_busy: bool,
}

impl Load {
    /// A load of a NIC with this line rate; 0 if that is unknown.
    #[must_use]
    pub fn new(nic: &str, sent_bps: f64, received_bps: f64, rate_bps: u64) -> Self {
        let limit = match rate_bps {
            0 => BUSY_BPS,
            rate => rate as f64 * BUSY,
        };
        Self {
            nic: nic.to_owned(),
            sent_bps,
            received_bps,
            is_busy: sent_bps.max(received_bps) > limit,
        }
    }
}

/// A NIC with traffic of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// The NIC.
    pub nic: String,
    /// The larger of its two directions, in bits per second.
    pub bps: f64,
}

impl Busy {
    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} carries {:.1} Gbit/s of others", self.nic, self.bps / 1e9)
    }

    /// The busiest of these, if one is busy.
    #[must_use]
    pub fn of(loads: &[Load]) -> Option<Self> {
        let busy = loads.iter().filter(|load| load.is_busy);
        let busy = busy.map(|load| Self {
            nic: load.nic.clone(),
            bps: load.sent_bps.max(load.received_bps),
        });
        busy.max_by(|a, b| a.bps.total_cmp(&b.bps))
    }
}

/// Compares the counters of all NICs with the time before.
///
/// Some NICs count their loopback traffic at the port, others do not. The first interval in which the tests write much
/// shows it, for it begins on a host that is known to be idle.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    before: Option<(Nanos, Vec<Sample>, Own)>,
    counts_own: BTreeMap<String, bool>,
    /// What the tests wrote before the last look that the counters did not show then: the kernel keeps the counters of
    /// some drivers for 10 ms and longer.
    unseen: BTreeMap<String, u64>,
}

impl Meter {
    /// The loads since the last call; none at the first, and if that is too recent.
    pub fn take(&mut self, now: Nanos, samples: Vec<Sample>, own: &Own) -> Vec<Load> {
        let Some((then, before, own_before)) = &self.before else {
            self.before = Some((now, samples, own.clone()));
            return Vec::new();
        };
        let time = now - *then;
        if time < SHORTEST {
            return Vec::new();
        }
        let mut loads = Vec::new();
        for sample in &samples {
            let Some(old) = before.iter().find(|old| old.nic == sample.nic) else {
                continue;
            };
            let sent = sample.sent_bytes.saturating_sub(old.sent_bytes);
            let received = sample.received_bytes.saturating_sub(old.received_bytes);
            let (is, was) = (own.tally(&sample.nic), own_before.tally(&sample.nic));
            let counted = |amount: Amount| amount.counted(sample);
            let written = counted(is.completed).saturating_sub(counted(was.completed));
            let abandoned = counted(is.abandoned).saturating_sub(counted(was.abandoned));
            let in_flight = counted(is.in_flight).max(counted(was.in_flight));
            let unseen = written.saturating_sub(sent.min(received));
            let late = self.unseen.insert(sample.nic.clone(), unseen).unwrap_or_default();
            let is_much = written >= MUCH.max(4 * in_flight);
            let may_count = sent.min(received) >= written / 2;
            // Until it is known, the smaller load counts.
            let counts = match self.counts_own.get_mut(&sample.nic) {
                Some(counts) => {
                    // An application that began with the tests looked like them.
                    *counts &= may_count || !is_much;
                    *counts
                }
                None if is_much => {
                    self.counts_own.insert(sample.nic.clone(), may_count);
                    may_count
                }
                None => true,
            };
            // All that the counters can have grown by: what was in flight before has completed, still is or was abandoned.
            let most = written + abandoned + late + counted(is.in_flight);
            let ours = if counts { most } else { 0 };
            let bps = |bytes: u64| bytes.saturating_sub(ours) as f64 * 8e9 / time.0 as f64;
            loads.push(Load::new(&sample.nic, bps(sent), bps(received), sample.rate_bps));
        }
        self.before = Some((now, samples, own.clone()));
        loads
    }
}
