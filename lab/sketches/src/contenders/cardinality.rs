//! Cloudflare's `cardinality-estimator`.

use std::error::Error;

use cardinality_estimator::CardinalityEstimator;

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, Key};

pub fn estimator() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CardinalityEstimator::<Key>::new()))
}

impl Contender for CardinalityEstimator<Key> {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.insert_hash(hash);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.insert(key);
        }
        true
    }

    fn flows(&self) -> f64 {
        self.estimate() as f64
    }
}
