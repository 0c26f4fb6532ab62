//! Elastic Sketch (Yang et al., SIGCOMM 2018): a heavy part, in which flows vote each other out, and a light part of
//! 8-bit counters for the others.
//!
//! 150 kB of heavy part with 12 bytes per entry, and 50 kB of light part with one row, as published.

use std::error::Error;

use rocescope_sketches::FlowHash;

use crate::contender::{Contender, largest};

const WAYS: usize = 7;
const BUCKETS: usize = 1_626;
const LIGHT: usize = 50_000;
/// Votes against a flow for each of its own before its eviction.
const LAMBDA: u32 = 8;
/// The top bit of a count: part of the flow may be in the light part.
const FLAG: u32 = 1 << 31;

struct Elastic {
    keys: Vec<[u64; WAYS]>,
    counts: Vec<[u32; WAYS]>,
    against: Vec<u32>,
    light: Vec<u8>,
}

pub fn contender() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(Elastic {
        keys: vec![[0; WAYS]; BUCKETS],
        counts: vec![[0; WAYS]; BUCKETS],
        against: vec![0; BUCKETS],
        light: vec![0; LIGHT],
    }))
}

fn share(hash: u64, of: usize) -> usize {
    ((u128::from(hash) * of as u128) >> 64) as usize
}

impl Elastic {
    fn light(&mut self, key: u64) -> &mut u8 {
        &mut self.light[share(key.wrapping_mul(0xbb67_ae85_84ca_a73b), LIGHT)]
    }

    fn add(&mut self, key: u64) {
        let at = share(key, BUCKETS);
        let (keys, counts) = (&mut self.keys[at], &mut self.counts[at]);
        if let Some(way) = keys.iter().position(|&kept| kept == key) {
            counts[way] += 1;
            return;
        }
        let own = |count: u32| count & !FLAG;
        let min = (1..WAYS).fold(0, |l, way| if own(counts[way]) < own(counts[l]) { way } else { l });
        if counts[min] == 0 {
            (keys[min], counts[min]) = (key, 1);
            return;
        }
        self.against[at] += 1;
        if self.against[at] / own(counts[min]) < LAMBDA {
            let counter = self.light(key);
            *counter = counter.saturating_add(1);
            return;
        }
        let loser = (keys[min], own(counts[min]));
        (keys[min], counts[min]) = (key, 1 | FLAG);
        self.against[at] = 0;
        let counter = self.light(loser.0);
        *counter = counter.saturating_add(loser.1.min(255) as u8);
    }
}

impl Contender for Elastic {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for &FlowHash(hash) in hashes {
            self.add(hash);
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let size = |(&key, &count): (&u64, &u32)| {
            let light = self.light[share(key.wrapping_mul(0xbb67_ae85_84ca_a73b), LIGHT)];
            let flagged = if count & FLAG == 0 { 0 } else { u64::from(light) };
            (key, u64::from(count & !FLAG) + flagged)
        };
        let flows = self.keys.iter().flatten().zip(self.counts.iter().flatten());
        largest(flows.map(size).filter(|(_, count)| *count > 0).collect(), k)
    }
}
