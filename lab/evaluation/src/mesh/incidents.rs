//! The incidents of the faults of a mesh: one for each link or NIC that fails.

use super::accuracy::{ALL_SEEDS, LEAST_LOSS, SCENARIOS, SEEDS, Scenario, one};
use crate::incidents::judged::{Judged, Planted, Run};
use crate::table::Size;
use rocescope_diagnose::hostmesh::Problem;
use rocescope_diagnose::hostmesh::document::Finding;
use rocescope_diagnose::incidents::convert::{self, Addresses};
use rocescope_diagnose::incidents::{Incident, Wire, join};
use std::collections::BTreeSet;

/// Classes of packets that do not arrive.
const LOST: [&str; 5] = ["loss", "blackhole", "link_down", "flapping", "silent"];

pub(crate) fn runs(size: Size) -> Vec<Run> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let scenarios = SCENARIOS
        .into_iter()
        .filter(|scenario| scenario.links.iter().all(|loss| *loss >= LEAST_LOSS));
    let all = scenarios.flat_map(|scenario| (0..seeds).map(move |seed| (scenario, seed)));
    all.map(|(scenario, seed)| {
        let name = format!("{} seed {seed}", scenario.name);
        Run::new(name, move || judge(&scenario, seed, size))
    })
    .collect()
}

fn judge(scenario: &Scenario, seed: u64, size: Size) -> Judged {
    // The small mesh in both sizes: what is measured is the join, not the scan.
    let size = Size { full: false, ..size };
    let (truth, windows) = one(scenario, seed, size);
    let mut findings: Vec<Finding> = Vec::new();
    let mut last_ns = i64::MIN;
    for row in windows.iter().flat_map(|window| &window.verdicts) {
        last_ns = last_ns.max(row.window_start_ns);
        match findings.iter_mut().rev().find(|known| known.problem.continues_in(row)) {
            Some(known) => known.problem.add(row),
            None => findings.push(Finding::from(Problem::new(row))),
        }
    }
    let addresses = Addresses::new();
    let found = findings
        .iter()
        .map(|finding| convert::mesh(finding, &addresses, last_ns))
        .collect();
    let faults: BTreeSet<BTreeSet<String>> = truth.iter().map(|place| both_ways(place)).collect();
    let planted: Vec<Planted<'_>> = faults
        .iter()
        .map(|fault| -> Planted<'_> {
            let is_it = move |one: &Incident| LOST.contains(&&*one.class) && !named(one).is_disjoint(fault);
            (format!("loss at {fault:?}"), Box::new(is_it))
        })
        .collect();
    Judged::of(&planted, join(found, &Wire::default()))
}

/// A link in both directions; a NIC as it is.
fn both_ways(place: &str) -> BTreeSet<String> {
    let back = place.split_once('>').map(|(from, to)| format!("{to}>{from}"));
    back.into_iter().chain([place.to_owned()]).collect()
}

/// The links that an incident names, or its place.
fn named(incident: &Incident) -> BTreeSet<String> {
    match &incident.place.link {
        Some(links) => links.split(' ').map(String::from).collect(),
        None => [incident.place.name.clone()].into(),
    }
}
