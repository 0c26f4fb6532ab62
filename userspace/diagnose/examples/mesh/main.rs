//! Accuracy and speed of the analysis of a mesh: `cargo xtask bench mesh [accuracy|quiet|speed] [SEEDS] [FAULT…]`.
//!
//! | module | what it measures |
//! |---|---|
//! | `accuracy` | precision and recall in a cluster of 2,000 hosts with 8 NICs in three tiers |
//! | `quiet` | an hour of 512 hosts without faults |
//! | `speed` | time and memory for a window of 10,000 hosts with 8 NICs |
#![expect(clippy::unwrap_used, reason = "a benchmark stops where it fails")]

mod accuracy;
mod quiet;
mod speed;

use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_fabric::{Fabric, LinkId};

/// Length of a window.
const WINDOW: i64 = 20_000_000_000;
/// The start of a window.
const START: i64 = 1_795_200_000_000_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seeds = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(20);
    let parts = ["accuracy", "quiet", "speed"];
    let is_name = |word: &&str| !parts.contains(word) && word.parse::<u64>().is_err();
    let names: Vec<&str> = arguments.iter().map(String::as_str).filter(is_name).collect();
    let asked = |part: &str| {
        arguments.iter().any(|word| word == part) || !arguments.iter().any(|word| parts.contains(&word.as_str()))
    };
    if asked("accuracy") {
        accuracy::run(seeds, &names);
    }
    if asked("quiet") {
        quiet::run();
    }
    if asked("speed") {
        speed::run();
    }
}

/// Creates an analyzer that knows the addresses of all switches.
fn analyzer(fabric: &Fabric) -> Analyzer {
    let mut analyzer = Analyzer::new(Settings::default(), "bench").unwrap();
    let topology = &fabric.topology;
    for link in (0..topology.links()).map(LinkId) {
        let (lower, upper) = topology.ends(link);
        analyzer.know(topology.address(link, false), &topology.name(lower));
        analyzer.know(topology.address(link, true), &topology.name(upper));
    }
    analyzer
}
