//! This project's sketches.

use std::error::Error;
use std::num::NonZeroU16;

use rocescope_sketches::{CountMin, FlowHash, HeavyHitters, LinearCounting, count_min::Update, hash::hash_words};

use crate::contender::{Contender, Key};

const SEED: u64 = 0;
/// The weights of a batch, which the pipeline has in addition to its hashes.
const ONES: [u64; 1024] = [1; 1024];

pub fn linear_counting<const ROWS: u16>() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(LinearCounting::new(NonZeroU16::new(ROWS).ok_or("no rows")?)))
}

impl Contender for LinearCounting {
    fn feed(&mut self, hashes: &[FlowHash]) {
        self.add_batch(hashes);
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.add(hash_words(key, SEED));
        }
        true
    }

    fn flows(&self) -> f64 {
        self.estimate().flows
    }
}

pub fn count_min_plain() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CountMin::new(4, 16_384, 42, Update::Plain)?))
}

pub fn count_min_conservative() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(CountMin::new(4, 16_384, 42, Update::Conservative)?))
}

impl Contender for CountMin {
    fn feed(&mut self, hashes: &[FlowHash]) {
        for batch in hashes.chunks(ONES.len()) {
            self.add_batch(batch, &ONES);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        for key in keys {
            self.add(hash_words(key, SEED), 1);
        }
        true
    }

    fn size(&self, hash: u64) -> u64 {
        self.estimate(FlowHash(hash))
    }
}

pub fn heavy_hitters<const LANES: usize>() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    Ok(Box::new(
        HeavyHitters::<LANES>::within_bytes(super::TOP_BYTES).ok_or("no bucket fits")?,
    ))
}

/// The second lane, if any, counts the bytes of full RoCE segments.
impl<const LANES: usize> Contender for HeavyHitters<LANES> {
    fn feed(&mut self, hashes: &[FlowHash]) {
        let weights = std::array::from_fn(|lane| if lane == 0 { 1 } else { 4_096 });
        for &hash in hashes {
            self.add(hash, weights);
        }
    }

    fn feed_keys(&mut self, keys: &[Key]) -> bool {
        let weights = std::array::from_fn(|lane| if lane == 0 { 1 } else { 4_096 });
        for key in keys {
            self.add(hash_words(key, SEED), weights);
        }
        true
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let mut top = Vec::new();
        self.top_into(k, &mut top);
        top.iter()
            .map(|hitter| (hitter.flow.0, hitter.weights[0].estimate()))
            .collect()
    }
}

/// Four sketches that alternate between packets, merged for each answer, which must be as good.
struct Shards([HeavyHitters<1>; 4]);

pub fn heavy_hitters_in_shards() -> Result<Box<dyn Contender>, Box<dyn Error>> {
    let shard = HeavyHitters::within_bytes(super::TOP_BYTES).ok_or("no bucket fits")?;
    Ok(Box::new(Shards([shard.clone(), shard.clone(), shard.clone(), shard])))
}

impl Contender for Shards {
    fn feed(&mut self, hashes: &[FlowHash]) {
        let (fours, rest) = hashes.as_chunks::<4>();
        for four in fours.iter().map(<[FlowHash; 4]>::as_slice).chain([rest]) {
            for (shard, hash) in self.0.iter_mut().zip(four) {
                shard.add(*hash, [1]);
            }
        }
    }

    fn top(&self, k: usize) -> Vec<(u64, u64)> {
        let [mut merged, rest @ ..] = self.0.clone();
        // Shards of equal size never mismatch; a mismatch would show as a loss of recall.
        let _ = rest.iter().try_for_each(|shard| merged.merge(shard));
        Contender::top(&merged, k)
    }
}
