//! `asap_sketchlib`. It accepts keys as bytes, and hashes them if it can.

use std::error::Error;

use asap_sketchlib::{
    CountMinSketch, DataInput, FastPath, HyperLogLogHipP12, MatrixHash, OwnedDataInput, SpaceSaving, Vector2D,
};

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, Key};

/// A copy of the key's bytes: the crate accepts only byte slices.
fn bytes(key: &Key) -> [u8; 48] {
    let mut bytes = [0; 48];
    for (to, word) in bytes.chunks_exact_mut(8).zip(key) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

pub fn hll() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(HyperLogLogHipP12::new()))
}

impl Contender for HyperLogLogHipP12 {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.update_with_hash(hash);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.update(&DataInput::Bytes(&bytes(key)));
        }
        true
    }

    fn flows(&self) -> f64 {
        self.estimate() as f64
    }
}

type CountMin = CountMinSketch<Vector2D<i64>, FastPath>;

pub fn count_min() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CountMin::with_dimensions(4, 16_384)))
}

impl Contender for CountMin {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.update_with_hash(&MatrixHash::Packed64(hash));
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.update(&DataInput::Bytes(&bytes(key)));
        }
        true
    }

    fn size(&self, hash: u64) -> u64 {
        self.estimate_with_hash(&MatrixHash::Packed64(hash)).cast_unsigned()
    }
}

/// The minimum number of counters for the answer; their memory is measured.
pub fn space_saving() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(SpaceSaving::<asap_sketchlib::DefaultXxHasher>::with_capacity(
        1_000,
    )))
}

impl Contender for SpaceSaving {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.update(&DataInput::U64(hash));
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let hash = |input: &OwnedDataInput| match input {
            OwnedDataInput::U64(hash) => *hash,
            _ => 0,
        };
        self.top_k(k)
            .iter()
            .map(|(input, count, _)| (hash(input), *count))
            .collect()
    }
}
