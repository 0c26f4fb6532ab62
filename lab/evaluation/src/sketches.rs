//! Bounds and heavy hitters of a long tail: 1,000 of 100,000 flows, 10 million packets, 200 kB. The stream is Zipf(1.1).
//!
//! One seed is a test of `sketches`; `cargo xtask bench sketches` compares with other implementations.

use crate::parallel;
use crate::table::{Goal, Line, Size};
use rocescope_sketches::hash::hash_words;
use rocescope_sketches::random::SplitMix64;
use rocescope_sketches::{FlowHash, HeavyHitters, LinearCounting};
use std::collections::HashMap;
use std::num::NonZeroU16;

const PACKETS: u64 = 10_000_000;
const FLOWS: u64 = 100_000;
const EXPONENT: f64 = 1.1;
const TOP: usize = 1_000;
const BYTES: usize = 200_000;
/// Rows of the bitmap: a million bits.
const ROWS: NonZeroU16 = NonZeroU16::MIN.saturating_add(31);

/// What one stream gives.
struct Quality {
    found: f64,
    error: f64,
    outside: f64,
    count: f64,
}

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let seeds: Vec<u64> = (1..=size.choose(2, 20)).collect();
    let all = parallel::each(&seeds, |seed| quality(*seed));
    let runs = seeds.len() as u64;
    let worst = |figure: fn(&Quality) -> f64| all.iter().map(figure).fold(0.0, f64::max);
    let least = all.iter().map(|one| one.found).fold(100.0, f64::min);
    vec![
        Line::new(
            "top 1,000",
            runs,
            "found in the worst run, %",
            least,
            Goal::AtLeast(99.9),
        ),
        Line::new(
            "top 1,000",
            runs,
            "mean error, %",
            worst(|one| one.error),
            Goal::AtMost(0.2),
        ),
        Line::new(
            "bounds",
            runs * FLOWS,
            "flows outside",
            worst(|one| one.outside),
            Goal::AtMost(0.0),
        ),
        Line::new(
            "flows",
            runs,
            "error of the number, %",
            worst(|one| one.count),
            Goal::AtMost(1.0),
        ),
    ]
}

/// A flow within 0.5 % of the last of the top counts as found.
fn quality(seed: u64) -> Quality {
    let hashes: Vec<FlowHash> = (0..FLOWS).map(|flow| hash_words(&[flow], seed)).collect();
    let mut sketch = HeavyHitters::<1>::within_bytes(BYTES).unwrap();
    let mut bitmap = LinearCounting::new(ROWS);
    let mut sizes = vec![0_u64; hashes.len()];
    for flow in zipf(seed) {
        sizes[flow] += 1;
        sketch.add(hashes[flow], [1]);
        bitmap.add(hashes[flow]);
    }
    let there = sizes.iter().filter(|size| **size > 0).count() as f64;
    let truth: HashMap<FlowHash, u64> = hashes.into_iter().zip(sizes.iter().copied()).collect();
    sizes.sort_unstable();
    let last = sizes[sizes.len() - TOP] as f64;
    let mut top = Vec::new();
    sketch.top_into(TOP, &mut top);
    let size = |flow: &FlowHash| truth.get(flow).copied().unwrap_or(0) as f64;
    let found = top.iter().filter(|hitter| size(&hitter.flow) >= 0.995 * last).count();
    let error = top.iter().map(|hitter| {
        let true_size = size(&hitter.flow);
        (hitter.weights[0].estimate() as f64 - true_size).abs() / true_size
    });
    let is_outside = |flow: &FlowHash, size: u64| {
        let [bounds] = sketch.bounds(*flow);
        size < bounds.lower || bounds.upper < size
    };
    Quality {
        found: found as f64 * 100.0 / TOP as f64,
        error: error.sum::<f64>() * 100.0 / TOP as f64,
        outside: truth.iter().filter(|(flow, size)| is_outside(flow, **size)).count() as f64,
        count: (bitmap.estimate().flows / there - 1.0).abs() * 100.0,
    }
}

/// Flows with probability ∝ rank^−1.1, by their cumulative weights.
fn zipf(seed: u64) -> impl Iterator<Item = usize> {
    let mut sum = 0.0;
    let weights = (1..=FLOWS).map(|rank| {
        sum += (rank as f64).powf(-EXPONENT);
        sum
    });
    let cumulative: Vec<f64> = weights.collect();
    let last = cumulative[cumulative.len() - 1];
    let mut random = SplitMix64::new(seed);
    (0..PACKETS).map(move |_| {
        let place = random.share() * last;
        cumulative
            .partition_point(|&weight| weight < place)
            .min(FLOWS as usize - 1)
    })
}
