//! The input: flows in the order of their packets.
//!
//! - *zipf*: 100,000 flows, drawn independently with probability ∝ rank^−1.1. Heavy tail, no locality: the worst case
//!   of a fabric.
//! - *roce*: 2,048 flows between 64 hosts. 512 carry messages in bursts of up to 64 packets, each acknowledged by a
//!   flow of its own (1 in 8); 1,024 are mice. Locality, few flows.

use rocescope_sketches::random::SplitMix64;
use rocescope_sketches::{FlowHash, hash::hash_words};

use crate::contender::Key;

/// Flows of the Zipf stream.
pub const ZIPF_FLOWS: usize = 100_000;
const EXPONENT: f64 = 1.1;
/// Packets fed by key: 1.5 MB of keys, fed repeatedly, because a capture has its key in registers and does not read it
/// from memory.
const KEYED: usize = 32_768;

/// Packets of known flows.
pub struct Stream {
    /// One hash per packet.
    pub hashes: Vec<FlowHash>,
    /// The keys of the first packets.
    pub keys: Vec<Key>,
    /// Every flow with its packets, largest first.
    pub truth: Vec<(u64, u64)>,
}

impl Stream {
    /// 100,000 flows, Zipf(1.1).
    pub fn zipf(packets: usize, seed: u64) -> Self {
        let weights: Vec<f64> = (1..=ZIPF_FLOWS).map(|rank| (rank as f64).powf(-EXPONENT)).collect();
        let alias = Alias::new(&weights);
        let mut random = SplitMix64::new(seed);
        Self::of(seed, ZIPF_FLOWS, (0..packets).map(|_| alias.draw(&mut random)))
    }

    /// Messages, acknowledgements and mice.
    pub fn roce(packets: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut burst = (0, 0);
        let next = move || {
            if burst.1 == 0 {
                let kind = random.bits() % 16;
                let flow = (random.bits() % 512) as usize;
                burst = match kind {
                    0 => (1_024 + (random.bits() % 1_024) as usize, 1 + random.bits() % 2),
                    1..=2 => (512 + flow, 8),
                    _ => (flow, 1 + random.bits() % 64),
                };
            }
            burst.1 -= 1;
            Some(burst.0)
        };
        Self::of(seed, 2_048, std::iter::from_fn(next).take(packets))
    }

    fn of(seed: u64, flows: usize, order: impl Iterator<Item = usize>) -> Self {
        let keys: Vec<Key> = (0..flows as u64).map(key).collect();
        let hashes: Vec<u64> = keys.iter().map(|key| hash_words(key, seed).0).collect();
        let mut counts = vec![0; flows];
        let mut stream = Self {
            hashes: Vec::new(),
            keys: Vec::new(),
            truth: Vec::new(),
        };
        for flow in order {
            counts[flow] += 1;
            stream.hashes.push(FlowHash(hashes[flow]));
            if stream.keys.len() < KEYED {
                stream.keys.push(keys[flow]);
            }
        }
        stream.truth = hashes.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect();
        stream.truth.sort_unstable_by_key(|flow| std::cmp::Reverse(flow.1));
        stream
    }
}

/// A flow key as the pipeline packs it: tunnel and VLANs, two IPv4 addresses mapped to IPv6, ports and queue pair.
fn key(flow: u64) -> Key {
    let host = |n: u64| 0x0a00_0000_ffff_0000_u64.rotate_left(16) | n << 24;
    [
        0,
        host(flow % 64),
        0,
        host(flow / 64 % 64),
        0xc000_0000_0000 | (flow % 16_384) << 32,
        0x11 + flow,
    ]
}

/// Walker's alias method: a draw in constant time.
struct Alias {
    keep: Vec<f64>,
    other: Vec<usize>,
}

impl Alias {
    fn new(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut keep: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let mut other: Vec<usize> = (0..keep.len()).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..keep.len()).partition(|&at| keep[at] < 1.0);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            other[poor] = rich;
            keep[rich] -= 1.0 - keep[poor];
            if keep[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Self { keep, other }
    }

    fn draw(&self, random: &mut SplitMix64) -> usize {
        let at = (random.bits() % self.keep.len() as u64) as usize;
        if random.share() < self.keep[at] {
            at
        } else {
            self.other[at]
        }
    }
}
