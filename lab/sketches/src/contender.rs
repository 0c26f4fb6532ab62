//! The interface of every contender: feed flows, then answer one of three questions.

use std::error::Error;

use rocescope_sketches::FlowHash;

/// A flow key as in the pipeline: 48 bytes.
pub type Key = [u64; 6];

/// A contender. It answers only the question of its group.
pub trait Contender {
    /// Feeds flows by their 64-bit hash, weight 1 each.
    fn feed(&mut self, hashes: &[FlowHash]);

    /// Feeds flows by their key: the cost for a caller without a hash. `false` if unsupported.
    fn feed_keys(&mut self, _keys: &[Key]) -> bool {
        false
    }

    /// The number of flows.
    fn flows(&self) -> f64 {
        f64::NAN
    }

    /// The packets of this flow.
    fn size(&self, _hash: u64) -> u64 {
        0
    }

    /// The `k` largest flows and their sizes, largest first.
    fn top(&self, _k: usize) -> Vec<(u64, u64)> {
        Vec::new()
    }
}

/// Makes a new contender.
pub type Make = fn() -> Result<Box<dyn Contender>, Box<dyn Error>>;

/// A row of a table before its measurement.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name of the row.
    pub name: &'static str,
    /// Makes a contender.
    pub make: Make,
}

/// Sorts by size and keeps the first `k`.
pub fn largest(mut flows: Vec<(u64, u64)>, k: usize) -> Vec<(u64, u64)> {
    flows.sort_unstable_by_key(|flow| std::cmp::Reverse(flow.1));
    flows.truncate(k);
    flows
}
