//! Counts flows and bytes in four shards, then merges them: the result equals one sketch of all.
//!
//! `cargo run -p rocescope-sketches --example merge_shards`

use rocescope_sketches::count_min::Update;
use rocescope_sketches::hash::hash_words;
use rocescope_sketches::{CountMin, FlowHash, LinearCounting};
use std::error::Error;

const SHARDS: usize = 4;
/// Sketches merge only if depth, width and seed are equal: agree on them once.
const SEED: i32 = 42;

/// The number of flows, and the bytes of each.
struct Shard {
    flows: LinearCounting,
    bytes: CountMin,
}

impl Shard {
    fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            flows: LinearCounting::default(),
            // Plain updates commute, so the merge is exact to the byte. `Update::Conservative` is
            // more accurate in one shard, but its merge gives upper bounds only.
            bytes: CountMin::new(4, 16_384, SEED, Update::Plain)?,
        })
    }

    fn add(&mut self, flow: FlowHash, bytes: u64) {
        self.flows.add(flow);
        self.bytes.add(flow, bytes);
    }

    /// A sketch of another shape is rejected; no loss is silent.
    fn merge(&mut self, other: &Self) -> Result<(), Box<dyn Error>> {
        self.flows.merge(&other.flows)?;
        self.bytes.merge(&other.bytes)?;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut shards = Vec::new();
    for _ in 0..SHARDS {
        shards.push(Shard::new()?);
    }
    let mut whole = Shard::new()?;

    // 20,000 packets of 500 flows. Packets of one flow may reach any shard, as they do when the
    // NIC spreads frames over its queues.
    for packet in 0..20_000_u64 {
        // Hash the key once; every sketch accepts the hash.
        let flow = hash_words(&[packet % 500], 0);
        shards[packet as usize % SHARDS].add(flow, 1024);
        whole.add(flow, 1024);
    }

    let mut shards = shards.into_iter();
    let mut merged = shards.next().ok_or("no shard")?;
    for shard in shards {
        merged.merge(&shard)?;
    }

    let flows = merged.flows.estimate();
    println!("flows        {} ± {:.0}", flows.rounded(), flows.standard_error);
    // Count-Min never understates: the truth is at most `upper`.
    let bounds = merged.bytes.bounds(hash_words(&[7], 0));
    println!("bytes of 7   {} to {}", bounds.lower, bounds.upper);
    println!("bytes in all {}", merged.bytes.total());
    assert!(bounds.lower <= 40_960 && 40_960 <= bounds.upper);
    assert_eq!(merged.flows, whole.flows);
    assert_eq!(merged.bytes, whole.bytes);
    Ok(())
}
