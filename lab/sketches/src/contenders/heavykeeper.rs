//! The crate `heavykeeper`: two of its variants, sized to the memory limit.
//!
//! 1,000 keys in its queue leave room for about 6,200 cells of 16 bytes.

use std::error::Error;

use heavykeeper::{BucketedTopK, CuckooTopK};

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, largest};

const DECAY: f64 = 0.9;

pub fn bucketed() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(BucketedTopK::<u64>::new(1_000, 1_550, 4, DECAY)))
}

pub fn cuckoo() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CuckooTopK::<u64>::new(1_000, 1_550, 3, DECAY)))
}

macro_rules! contender {
    ($sketch:ident) => {
        impl Contender for $sketch<u64> {
            fn feed(&mut self, hashes: &[FlowHash]) {
                for FlowHash(hash) in hashes {
                    self.add(hash, 1);
                }
            }

            fn top(&self, k: usize) -> Vec<(u64, u64)> {
                largest(
                    self.list().iter().map(|node| (node.item, node.count)).collect(),
                    k,
                )
            }
        }
    };
}

contender!(BucketedTopK);
contender!(CuckooTopK);
