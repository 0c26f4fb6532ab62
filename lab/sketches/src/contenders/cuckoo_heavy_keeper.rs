//! Cuckoo HeavyKeeper (Ngo, Papatriantafilou 2024), with whole keys instead of fingerprints.
//!
//! Each flow has two candidate buckets. A bucket has one lobby entry, which decays, and heavy entries, which do not. A
//! flow uses a free heavy entry immediately. Otherwise it waits in a lobby, and from [`PROMOTION`] on it replaces the
//! smallest heavy entry, which moves to its other bucket if there is room. Counts are 32 bits: 12 bytes per entry,
//! 16,640 entries in 200 kB. Estimates are never above the truth, without a bound for the error.

use std::error::Error;

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, largest};

const HEAVY: usize = 7;
const BUCKETS: usize = 2_080;
const PROMOTION: u32 = 16;
const BASE: f64 = 1.08;
const MAX_KICKS: usize = 8;

#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    count: u32,
}

/// Lobby first; two arrays avoid padding.
#[derive(Clone)]
struct CuckooHeavyKeeper {
    keys: Vec<[u64; HEAVY + 1]>,
    counts: Vec<[u32; HEAVY + 1]>,
    decay: [u64; PROMOTION as usize + 1],
    random: u64,
}

pub fn contender() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    let chance = |count: usize| (BASE.powi(-(count as i32)) * u64::MAX as f64) as u64;
    Ok(Box::new(CuckooHeavyKeeper {
        keys: vec![[0; HEAVY + 1]; BUCKETS],
        counts: vec![[0; HEAVY + 1]; BUCKETS],
        decay: std::array::from_fn(chance),
        random: 0x9e37_79b9_7f4a_7c15,
    }))
}

fn buckets_of(key: u64) -> [usize; 2] {
    let other = key.wrapping_mul(0xbb67_ae85_84ca_a73b);
    [key, other ^ other >> 29].map(|word| ((u128::from(word) * BUCKETS as u128) >> 64) as usize)
}

impl CuckooHeavyKeeper {
    fn chance(&mut self, below: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random <= below
    }

    fn add(&mut self, key: u64) {
        let buckets = buckets_of(key);
        for bucket in buckets {
            let keys = &self.keys[bucket];
            if let Some(at) = (1..=HEAVY).find(|&at| keys[at] == key) {
                self.counts[bucket][at] += 1;
                return;
            }
        }
        for bucket in buckets {
            if let Some(at) = (1..=HEAVY).find(|&at| self.counts[bucket][at] == 0) {
                (self.keys[bucket][at], self.counts[bucket][at]) = (key, 1);
                return;
            }
        }
        for bucket in buckets {
            if self.keys[bucket][0] == key && self.counts[bucket][0] > 0 {
                self.counts[bucket][0] += 1;
                if self.counts[bucket][0] >= PROMOTION {
                    self.promote(bucket);
                }
                return;
            }
        }
        for bucket in buckets {
            if self.counts[bucket][0] == 0 {
                (self.keys[bucket][0], self.counts[bucket][0]) = (key, 1);
                return;
            }
        }
        let lobby = buckets[(key & 1) as usize];
        let count = self.counts[lobby][0];
        if self.chance(self.decay[count.min(PROMOTION) as usize]) {
            match count {
                1 => (self.keys[lobby][0], self.counts[lobby][0]) = (key, 1),
                _ => self.counts[lobby][0] -= 1,
            }
        }
    }

    fn promote(&mut self, mut bucket: usize) {
        let mut moving = Entry {
            key: self.keys[bucket][0],
            count: self.counts[bucket][0],
        };
        self.counts[bucket][0] = 0;
        for _ in 0..MAX_KICKS {
            let counts = &self.counts[bucket];
            let smallest = (2..=HEAVY).fold(1, |s, at| if counts[at] < counts[s] { at } else { s });
            let there = Entry {
                key: self.keys[bucket][smallest],
                count: self.counts[bucket][smallest],
            };
            if there.count >= moving.count {
                return self.settle(bucket, moving);
            }
            self.keys[bucket][smallest] = moving.key;
            self.counts[bucket][smallest] = moving.count;
            if there.count == 0 {
                return;
            }
            let [one, other] = buckets_of(there.key);
            (moving, bucket) = (there, if one == bucket { other } else { one });
        }
    }

    /// A flow smaller than every heavy one of its bucket waits in the lobby.
    fn settle(&mut self, bucket: usize, flow: Entry) {
        if self.counts[bucket][0] < flow.count {
            self.keys[bucket][0] = flow.key;
            self.counts[bucket][0] = flow.count;
        }
    }
}

impl Contender for CuckooHeavyKeeper {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.add(hash);
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let keys = self.keys.iter().flatten().copied();
        let counts = self.counts.iter().flatten().map(|&count| u64::from(count));
        largest(keys.zip(counts).filter(|(_, count)| *count > 0).collect(), k)
    }
}
