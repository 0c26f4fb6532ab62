//! The heavy hitters of a long tail: 1,000 of 100,000 flows, 10 million packets, 200 kB.
//!
//! One seed here, to check every change; twenty in `cargo xtask bench sketches`.

use std::collections::HashMap;

use rocescope_sketches::{FlowHash, HeavyHitters, hash::hash_words};

const PACKETS: usize = 10_000_000;
const FLOWS: usize = 100_000;
const EXPONENT: f64 = 1.1;
const TOP: usize = 1_000;
const BYTES: usize = 200_000;
const SEED: u64 = 1;

/// Draws flows with probability ∝ rank^−1.1, by their cumulative weights.
fn zipf(seed: u64) -> impl Iterator<Item = usize> {
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=FLOWS)
        .map(|rank| {
            sum += (rank as f64).powf(-EXPONENT);
            sum
        })
        .collect();
    (0..PACKETS as u64).map(move |packet| {
        let uniform = (hash_words(&[packet], !seed).0 >> 11) as f64 / (1u64 << 53) as f64;
        cumulative.partition_point(|&c| c < uniform * sum).min(FLOWS - 1)
    })
}

/// Recall and mean relative error of the top 1,000; a flow within 0.5 % of the last one counts as found.
fn quality(sketch: &HeavyHitters<1>, truth: &HashMap<FlowHash, u64>) -> (f64, f64) {
    let mut sizes: Vec<u64> = truth.values().copied().collect();
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
    (found as f64 / TOP as f64, error.sum::<f64>() / TOP as f64)
}

#[test]
fn the_top_thousand_in_200_kb_whole_and_in_shards() {
    let mut whole = HeavyHitters::<1>::within_bytes(BYTES).unwrap();
    let mut shards = [(); 4].map(|()| whole.clone());
    let hashes: Vec<FlowHash> = (0..FLOWS as u64).map(|flow| hash_words(&[flow], SEED)).collect();
    let mut sizes = vec![0; FLOWS];
    for (packet, flow) in zipf(SEED).enumerate() {
        sizes[flow] += 1;
        whole.add(hashes[flow], [1]);
        shards[packet % 4].add(hashes[flow], [1]);
    }
    let truth: HashMap<FlowHash, u64> = hashes.into_iter().zip(sizes).collect();
    let [mut merged, rest @ ..] = shards;
    for shard in &rest {
        merged.merge(shard).unwrap();
    }
    for (name, sketch) in [("whole", whole), ("merged", merged)] {
        assert!(sketch.bytes() <= BYTES);
        let (recall, error) = quality(&sketch, &truth);
        assert!(
            recall >= 0.999 && error <= 0.002,
            "{name}: recall {recall}, error {error}"
        );
        for (flow, size) in &truth {
            let [bounds] = sketch.bounds(*flow);
            assert!(
                bounds.lower <= *size && *size <= bounds.upper,
                "{name}: {bounds:?}, {size}"
            );
        }
    }
}
