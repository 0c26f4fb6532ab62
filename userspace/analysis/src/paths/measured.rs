//! The loads of the paths of a run.

use super::runs::Run;
use rocescope_diagnose::paths::{Fabric, Imbalance, Loads, Walk};
use rocescope_model::human::plural;
use serde::Serialize;
use std::collections::BTreeMap;

/// The loads of a run, and what contradicts the topology.
#[derive(Debug, Default)]
pub struct Measured {
    /// The loads.
    pub imbalance: Imbalance,
    /// The first problems.
    pub problems: Vec<Problem>,
    /// All problems by reason; `problems` has the first of them.
    pub counts: BTreeMap<&'static str, u64>,
}

/// A hop that contradicts the topology.
#[derive(Debug, Serialize)]
pub struct Problem {
    /// Name of the flow.
    pub flow: String,
    /// The kind of problem.
    pub reason: &'static str,
    /// The problem in a sentence.
    pub message: String,
}

/// Problems in the output, at most.
const MAX_PROBLEMS: usize = 1_000;

/// Adds up the loads of a run.
#[must_use]
pub fn measure(fabric: &Fabric, run: &Run) -> Measured {
    let mut loads = Loads::new(fabric);
    let mut measured = Measured::default();
    for path in run.paths.iter().filter(|path| !path.hops.is_empty()) {
        let walk = Walk::new(fabric, &path.hops);
        for problem in &walk.problems {
            *measured.counts.entry(problem.reason()).or_default() += 1;
            if measured.problems.len() < MAX_PROBLEMS {
                measured.problems.push(Problem {
                    flow: path.name.clone(),
                    reason: problem.reason(),
                    message: problem.to_string(),
                });
            }
        }
        loads.add(&walk.ways, path.bps);
    }
    measured.imbalance = loads.imbalance(fabric);
    measured
}

impl Measured {
    /// A line for each reason of hops that contradict the topology, with the first of them.
    #[must_use]
    pub fn lines(&self, whose: &str) -> String {
        let lines = self.counts.iter().map(|(reason, count)| {
            let example = self.problems.iter().find(|problem| problem.reason == *reason);
            let example = example.map_or(String::new(), |problem| {
                format!(": {}: {}", problem.flow, problem.message)
            });
            let verb = if *count == 1 { "contradicts" } else { "contradict" };
            format!(
                "{}{whose} {verb} the topology ({reason}){example}\n",
                plural(*count, "hop")
            )
        });
        lines.collect()
    }
}
