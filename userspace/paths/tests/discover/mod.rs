//! Paths hop by hop over simulated switches: every driver in the format of its documentation, faults, modes and speed.

mod answers;
mod channels;
mod clos;
mod hashing;
mod speed;
mod switches;

use clos::Clos;
use rocescope_paths::discover::{Plan, Run, hops};
use std::collections::HashMap;

fn outcomes(run: &Run) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for trace in &run.traces {
        *counts.entry(trace.outcome.reason).or_default() += 1;
    }
    counts
}

/// Checks each path against what the switches compute.
fn assert_right(clos: &Clos, plan: &Plan, run: &Run) {
    for trace in &run.traces {
        assert_eq!(
            (trace.outcome.reason, &*trace.outcome.detail),
            ("complete", ""),
            "{}",
            trace.flow
        );
        let found = hops(&plan.fabric, &trace.ways);
        for hop in &found[1..] {
            let egress = clos.egress(&hop.0, trace.flow.dst, trace.flow.src_port);
            // Cumulus names its ports otherwise.
            assert_eq!(hop.1, egress, "{}", trace.flow);
        }
        assert_eq!(found.len(), 4);
    }
}

const SMALL: Clos = Clos {
    leaves: 4,
    spines: 4,
    hosts: 4,
    ipv6: false,
    driver: "eos",
};
