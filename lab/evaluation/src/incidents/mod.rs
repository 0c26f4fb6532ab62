//! Incidents: one for each planted fault, of the right class and place, and none beside it, over all systems.
//!
//! Captured connections have scenarios of their own: eight hosts that all talk to each other, with faults in it. The other
//! systems are those of their evaluations, with what `diagnose` makes of their findings.
//!
//! | module | what it holds |
//! |---|---|
//! | `cases` | the scenarios, and the incidents that each must give |
//! | `judge` | a scenario, generated, analyzed and compared |
//! | `judged` | what was reported of planted faults |

mod cases;
mod judge;
pub(crate) mod judged;

use crate::table::{Goal, Line, Size, percent};
use crate::{hostping, hosts, mesh, parallel};
use cases::{CASES, Case};
use judged::Judged;

/// The seeds of a usual run, and of a full one.
const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let systems = [
        ("captured connections", captured(size)),
        ("hosts' counters", hosts::incidents::evaluate(size)),
        ("mesh of probes", mesh::incidents::evaluate(size)),
        ("inside hosts", hostping::incidents::evaluate(size)),
    ];
    let mut lines = Vec::new();
    for (system, runs) in systems {
        lines.extend(of_system(system, &runs, size));
    }
    lines
}

/// The runs of a system, by name.
pub(crate) type Runs = Vec<(String, Judged)>;

fn of_system(system: &str, runs: &Runs, size: Size) -> Vec<Line> {
    let (mut faulty, mut healthy) = (Judged::default(), Judged::default());
    let (mut faulty_runs, mut healthy_runs) = (0, 0);
    for (name, found) in runs {
        if size.details || !found.is_perfect() {
            println!("{system}: {name:<36} {found}");
        }
        let (sum, count) = match found.planted == 0 {
            true => (&mut healthy, &mut healthy_runs),
            false => (&mut faulty, &mut faulty_runs),
        };
        sum.add(found);
        *count += 1;
    }
    let right = percent(faulty.right, faulty.planted);
    let further = (faulty.further as f64, healthy.further as f64);
    vec![
        Line::new(
            format!("{system}: planted faults"),
            faulty.planted,
            "reported, right class and place, %",
            right,
            Goal::AtLeast(95.0),
        ),
        Line::new(
            format!("{system}: runs with faults"),
            faulty_runs,
            "further incidents",
            further.0,
            Goal::AtMost(0.0),
        ),
        Line::new(
            format!("{system}: quiet and busy runs"),
            healthy_runs,
            "incidents",
            further.1,
            Goal::AtMost(0.0),
        ),
    ]
}

fn captured(size: Size) -> Runs {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let runs: Vec<(&Case, u64)> = CASES
        .iter()
        .flat_map(|case| (1..=seeds).map(move |seed| (case, seed)))
        .collect();
    parallel::each(&runs, |(case, seed)| {
        (format!("{} seed {seed}", case.name), judge::judge(case, *seed))
    })
}

#[cfg(test)]
mod tests {
    use super::{Runs, Size, captured, of_system};
    use crate::table::Line;
    use crate::{hostping, hosts, mesh};

    const SMALL: Size = Size {
        full: false,
        details: true,
    };

    fn assert_met(runs: &Runs) {
        let lines = of_system("incidents", runs, SMALL);
        assert!(lines.iter().all(Line::is_met), "{lines:#?}");
    }

    #[test]
    fn every_planted_fault_of_captured_connections_is_one_incident() {
        assert_met(&captured(SMALL));
    }

    #[test]
    fn every_scripted_cause_of_hosts_is_one_incident() {
        assert_met(&hosts::incidents::evaluate(SMALL));
    }

    #[test]
    fn every_planted_fault_of_a_mesh_is_one_incident() {
        assert_met(&mesh::incidents::of(SMALL, 9));
    }

    #[test]
    fn every_slow_link_inside_a_host_is_one_incident() {
        assert_met(&hostping::incidents::evaluate(SMALL));
    }
}
