//! The sketches of a window, and what takes over beyond the bound of exact flows.

use crate::flow_table::{Flow, FlowCounts};
use alloc::vec::Vec;
use core::num::{NonZeroU16, NonZeroU32};
use rocescope_sketches::count_min::Update;
use rocescope_sketches::heavy_hitters::{Change, HeavyHitters, Interval};
use rocescope_sketches::{CountMin, FlowHash, LinearCounting};
use rocescope_wire::{FlowKey, Opcode};

/// Rows and counters of the Count-Min tables, and their seed: 512 KiB each. Every box uses the
/// same, for tables merge only then.
pub const COUNT_MIN_DEPTH: u32 = 4;
/// Counters in a row.
pub const COUNT_MIN_WIDTH: u32 = 16_384;
/// Seed of the row hashes, as Spark takes it.
pub const COUNT_MIN_SEED: i32 = 42;

/// 524,288 bits, 64 KiB: within 1 % up to three million flows.
const MANY_ROWS: NonZeroU16 = NonZeroU16::MIN.saturating_add(15);
/// 4,096 tracked flows; the top 1,000 of a heavy-tailed mix need about seven times their number.
const HEAVY_BUCKETS: NonZeroU32 = NonZeroU32::MIN.saturating_add(511);

/// The mergeable sketches that a window hands on.
#[derive(Clone, Debug)]
pub struct Sketches {
    /// Which flows.
    pub flows: LinearCounting,
    /// Packets of each.
    pub packets: CountMin,
    /// Frame bytes of each.
    pub frame_bytes: CountMin,
}

impl Default for Sketches {
    fn default() -> Self {
        let table = || {
            CountMin::new(COUNT_MIN_DEPTH, COUNT_MIN_WIDTH, COUNT_MIN_SEED, Update::Plain)
                // The shape is constant, and a test makes it.
                .unwrap_or_else(|_| unreachable!("4 rows of 16,384 counters are a table"))
        };
        Self { flows: LinearCounting::default(), packets: table(), frame_bytes: table() }
    }
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
        // All are made by `default`, so none can differ.
        let _ = self.flows.merge(&other.flows);
        let _ = self.packets.merge(&other.packets);
        let _ = self.frame_bytes.merge(&other.frame_bytes);
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.flows.clear();
        self.packets.clear();
        self.frame_bytes.clear();
    }
}

/// The weights by which flows beyond the bound are followed; frame bytes rank.
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

/// A flow that is only known between bounds.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// Which one, with the largest counts that it can have.
    pub flow: Flow,
    /// How many packets fewer there may be.
    pub error_packets: u64,
    /// How many frame bytes fewer there may be.
    pub error_frame_bytes: u64,
}

impl Bounded {
    /// A flow whose counts are exact.
    #[must_use]
    pub const fn exact(flow: Flow) -> Self {
        Self { flow, error_packets: 0, error_frame_bytes: 0 }
    }
}

/// Flows that found the table full.
#[derive(Debug)]
pub struct Overflow {
    /// Everything, flow by flow, as the window hands it on.
    pub sketches: Sketches,
    /// How many flows, to more digits than the one row of the window can tell.
    pub many: LinearCounting,
    heavy: HeavyHitters<LANES>,
    /// Key, service and times of the tracked flows, by slot.
    tracked: Vec<Option<Tracked>>,
    first_ns: u64,
    last_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Tracked {
    key: FlowKey,
    opcode: Opcode,
}

impl Default for Overflow {
    fn default() -> Self {
        Self::new()
    }
}

impl Overflow {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let heavy = HeavyHitters::new(HEAVY_BUCKETS);
        let tracked = alloc::vec![None; heavy.capacity()];
        Self {
            sketches: Sketches::default(),
            many: LinearCounting::new(MANY_ROWS),
            heavy,
            tracked,
            first_ns: u64::MAX,
            last_ns: 0,
        }
    }

    /// An empty bitmap that merges with [`many`](Self::many).
    #[must_use]
    pub fn empty_many() -> LinearCounting {
        LinearCounting::new(MANY_ROWS)
    }

    /// Adds counts to a flow.
    pub fn add(&mut self, hash: FlowHash, key: &FlowKey, opcode: Opcode, counts: &FlowCounts) {
        self.sketches.add(hash, counts);
        self.many.add(hash);
        self.first_ns = self.first_ns.min(counts.first_ns);
        self.last_ns = self.last_ns.max(counts.last_ns);
        self.track(hash, key, opcode, lanes(counts));
    }

    fn track(&mut self, hash: FlowHash, key: &FlowKey, opcode: Opcode, weights: [u64; LANES]) {
        let placed = self.heavy.add(hash, weights);
        if placed.change != Change::Kept
            && let Some(tracked) = self.tracked.get_mut(placed.slot.index())
        {
            *tracked = Some(Tracked { key: *key, opcode });
        }
    }

    /// Adds the flows of a window to those of the capture.
    ///
    /// The counts of its tracked flows are added one by one, upper bounds and all, so that an upper
    /// bound stays one; the lower bound of a merged flow is that of its exact part.
    pub fn merge(&mut self, other: &Self) {
        self.sketches.merge(&other.sketches);
        let _ = self.many.merge(&other.many);
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        for bounded in other.flows() {
            let flow = bounded.flow;
            self.track(flow.hash(), &flow.key, flow.opcode, lanes(&flow.counts));
        }
    }

    /// The tracked flows, in no order.
    pub fn flows(&self) -> impl Iterator<Item = Bounded> {
        self.heavy.iter().filter_map(|hitter| {
            let tracked = self.tracked.get(hitter.slot.index()).copied().flatten()?;
            Some(self.bounded(tracked, hitter.weights))
        })
    }

    fn bounded(&self, tracked: Tracked, weights: [Interval; LANES]) -> Bounded {
        let [frame_bytes, packets, payload_bytes, messages, congestion] = weights;
        Bounded {
            flow: Flow {
                key: tracked.key,
                opcode: tracked.opcode,
                counts: FlowCounts {
                    packets: packets.upper,
                    frame_bytes: frame_bytes.upper,
                    payload_bytes: payload_bytes.upper,
                    messages: messages.upper,
                    congestion_experienced: congestion.upper,
                    first_ns: self.first_ns,
                    last_ns: self.last_ns,
                },
            },
            error_packets: packets.upper - packets.lower,
            error_frame_bytes: frame_bytes.upper - frame_bytes.lower,
        }
    }
}
