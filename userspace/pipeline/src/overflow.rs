//! The sketches of a window, and those that count flows beyond the bound of exact flows.

use crate::flow_table::{Flow, FlowCounts};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::{NonZeroU16, NonZeroU32};
use rocescope_sketches::heavy_hitters::{Change, HeavyHitters, Interval};
use rocescope_sketches::{CountMin, FlowHash, HyperLogLog, LinearCounting};
use rocescope_wire::{FlowKey, Opcode};

/// 524,288 bits, 64 KiB: within 1 % up to three million flows.
const FLOW_BITMAP_ROWS: NonZeroU16 = NonZeroU16::MIN.saturating_add(15);
/// 4,096 tracked flows; the top 1,000 of a heavy-tailed mix need about seven times their number.
const HEAVY_BUCKETS: NonZeroU32 = NonZeroU32::MIN.saturating_add(511);

/// The mergeable sketches of a window.
#[derive(Clone, Debug, Default)]
pub struct Sketches {
    /// The distinct flows.
    pub flows: LinearCounting,
    /// Packets of each.
    pub packets: CountMin,
    /// Frame bytes of each.
    pub frame_bytes: CountMin,
}

impl Sketches {
    /// Adds the counts of a flow.
    #[inline]
    pub fn add(&mut self, hash: FlowHash, counts: &FlowCounts) {
        self.flows.add(hash);
        self.packets.add(hash, counts.packets);
        self.frame_bytes.add(hash, counts.frame_bytes);
    }

    /// Adds the flows of `other`, which has the same shape.
    pub fn merge(&mut self, other: &Self) {
        // All shapes come from `default`, so they are equal.
        let _ = self.flows.merge(&other.flows);
        let _ = self.packets.merge(&other.packets);
        let _ = self.frame_bytes.merge(&other.frame_bytes);
    }

    /// Clears everything; keeps the memory.
    pub fn clear(&mut self) {
        self.flows.clear();
        self.packets.clear();
        self.frame_bytes.clear();
    }
}

/// The weights of tracked flows beyond the bound; frame bytes decide the rank.
const LANES: usize = 5;

fn lanes(counts: &FlowCounts) -> [u64; LANES] {
    [
        counts.frame_bytes,
        counts.packets,
        counts.payload_bytes,
        counts.messages,
        counts.congestion_experienced,
    ]
}

/// A flow with bounds for its counts.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The flow, with the upper bounds of its counts.
    pub flow: Flow,
    /// The maximum error of its packets.
    pub error_packets: u64,
    /// The maximum error of its frame bytes.
    pub error_frame_bytes: u64,
}

impl Bounded {
    /// A flow whose counts are exact.
    #[must_use]
    pub const fn exact(flow: Flow) -> Self {
        Self {
            flow,
            error_packets: 0,
            error_frame_bytes: 0,
        }
    }
}

/// Flows that did not fit into the exact table.
#[derive(Debug)]
pub struct Overflow {
    /// The sketches of all flows.
    pub sketches: Sketches,
    /// The number of flows, more precisely than the bitmap of the window.
    pub flow_bitmap: LinearCounting,
    /// The number of flows without a limit.
    pub hll: HyperLogLog,
    heavy: HeavyHitters<LANES>,
    /// Key and service of the tracked flows, by slot.
    tracked: Vec<Option<Tracked>>,
    first_ns: u64,
    last_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Tracked {
    key: FlowKey,
    opcode: Opcode,
}

impl Overflow {
    /// Without flows; `empty` gives the shape of the sketches.
    #[must_use]
    pub fn new(empty: &Sketches) -> Self {
        let heavy = HeavyHitters::new(HEAVY_BUCKETS);
        let tracked = alloc::vec![None; heavy.capacity()];
        Self {
            sketches: empty.clone(),
            flow_bitmap: LinearCounting::new(FLOW_BITMAP_ROWS),
            hll: HyperLogLog::new(),
            heavy,
            tracked,
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    /// An empty bitmap that merges with [`flow_bitmap`](Self::flow_bitmap).
    #[must_use]
    pub fn empty_flow_bitmap() -> LinearCounting {
        LinearCounting::new(FLOW_BITMAP_ROWS)
    }

    /// Adds counts to a flow.
    pub fn add(&mut self, hash: FlowHash, key: &FlowKey, opcode: Opcode, counts: &FlowCounts) {
        self.sketches.add(hash, counts);
        self.flow_bitmap.add(hash);
        self.hll.add(hash);
        self.first_ns = self.first_ns.min(counts.first_ns);
        self.last_ns = self.last_ns.max(counts.last_ns);
        let placed = self.heavy.add(hash, lanes(counts));
        if placed.change != Change::Kept
            && let Some(tracked) = self.tracked.get_mut(placed.slot.index())
        {
            *tracked = Some(Tracked { key: *key, opcode });
        }
    }

    /// Adds the flows of a window to those of the capture. All bounds remain valid.
    pub fn merge(&mut self, other: &Self) {
        self.sketches.merge(&other.sketches);
        // Both come from `new`, so their shapes are equal.
        let _ = self.flow_bitmap.merge(&other.flow_bitmap);
        self.hll.merge(&other.hll);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        // A merge moves flows between slots: find their keys again by hash.
        let keys: BTreeMap<FlowHash, Tracked> = self.keys().chain(other.keys()).collect();
        let _ = self.heavy.merge(&other.heavy);
        self.tracked.fill(None);
        for hitter in self.heavy.iter() {
            if let Some(tracked) = self.tracked.get_mut(hitter.slot.index()) {
                *tracked = keys.get(&hitter.flow).copied();
            }
        }
    }

    fn keys(&self) -> impl Iterator<Item = (FlowHash, Tracked)> {
        self.heavy.iter().filter_map(|hitter| {
            let tracked = self.tracked.get(hitter.slot.index()).copied().flatten()?;
            Some((hitter.flow, tracked))
        })
    }

    /// The tracked flows, in no order.
    pub fn flows(&self) -> impl Iterator<Item = Bounded> {
        self.heavy.iter().filter_map(|hitter| {
            let tracked = self.tracked.get(hitter.slot.index()).copied().flatten()?;
            Some(self.bounded(tracked, hitter.weights))
        })
    }

    /// The upper bounds of a flow's counts, and their maximum errors, whether it is tracked or not.
    #[must_use]
    pub fn bounds(&self, hash: FlowHash) -> (FlowCounts, u64, u64) {
        let weights = self.heavy.bounds(hash);
        let [frame_bytes, packets, ..] = weights;
        let errors = (packets.upper - packets.lower, frame_bytes.upper - frame_bytes.lower);
        (self.counts(weights), errors.0, errors.1)
    }

    fn counts(&self, weights: [Interval; LANES]) -> FlowCounts {
        let [frame_bytes, packets, payload_bytes, messages, congestion] = weights;
        FlowCounts {
            packets: packets.upper,
            frame_bytes: frame_bytes.upper,
            payload_bytes: payload_bytes.upper,
            messages: messages.upper,
            congestion_experienced: congestion.upper,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
        }
    }

    fn bounded(&self, tracked: Tracked, weights: [Interval; LANES]) -> Bounded {
        let [frame_bytes, packets, ..] = weights;
        Bounded {
            flow: Flow {
                key: tracked.key,
                opcode: tracked.opcode,
                counts: self.counts(weights),
            },
            error_packets: packets.upper - packets.lower,
            error_frame_bytes: frame_bytes.upper - frame_bytes.lower,
        }
    }
}
