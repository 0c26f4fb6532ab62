//! What every contender can do: be fed, and answer one of three questions.

use std::error::Error;

use rocescope_sketches::FlowHash;

/// A flow key as the pipeline makes it: 48 bytes.
pub type Key = [u64; 6];

/// One that takes part. It answers the question of its group and no other.
pub trait Contender {
    /// Feeds flows by their 64-bit hash, weight 1 each.
    fn feed(&mut self, hashes: &[FlowHash]);

    /// Feeds flows by their key: what a caller without a hash pays. `false` when not offered.
    fn feed_keys(&mut self, _keys: &[Key]) -> bool {
        false
    }

    /// How many flows there were.
    fn flows(&self) -> f64 {
        f64::NAN
    }

    /// How often this flow came.
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

/// A row of a table before it is measured.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What the row is called.
    pub name: &'static str,
    /// How to make one.
    pub make: Make,
}

/// Sorts by size and keeps `k`.
pub fn largest(mut flows: Vec<(u64, u64)>, k: usize) -> Vec<(u64, u64)> {
    flows.sort_unstable_by_key(|flow| std::cmp::Reverse(flow.1));
    flows.truncate(k);
    flows
}
