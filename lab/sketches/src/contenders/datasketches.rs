//! Apache DataSketches for Rust.

use std::error::Error;

use datasketches::countmin::CountMinSketch;
use datasketches::frequencies::{ErrorType, FrequentItemsSketch};
use datasketches::hll::{HllSketch, HllType};

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, Key, largest};

pub fn hll() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(HllSketch::new(12, HllType::Hll8)?))
}

impl Contender for HllSketch {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.update(hash);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.update(key);
        }
        true
    }

    fn flows(&self) -> f64 {
        self.estimate()
    }
}

pub fn count_min() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CountMinSketch::<i64>::new(4, 16_384)?))
}

impl Contender for CountMinSketch<i64> {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for FlowHash(hash) in hashes {
            self.update(hash);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.update(key);
        }
        true
    }

    fn size(&self, hash: u64) -> u64 {
        self.estimate(hash).cast_unsigned()
    }
}

/// A map of 8,192: the power of two nearest to the memory allowed, and a little above it.
pub fn frequent_items() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(FrequentItemsSketch::<u64>::new(8_192)?))
}

impl Contender for FrequentItemsSketch<u64> {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.update(hash);
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let rows = self.frequent_items(ErrorType::NoFalseNegatives);
        largest(rows.iter().map(|row| (*row.item(), row.estimate())).collect(), k)
    }
}
