//! Incidents: one for each planted fault, of the right class and place, and none beside it, over all systems.
//!
//! Captured connections have scenarios of their own: eight hosts that all talk to each other, with faults in it. The other
//! systems are those of their evaluations, with what `diagnose` makes of their findings. `LAB_SYSTEM=mesh` runs one alone.
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
use crate::{collectives, hostping, hosts, mesh, parallel, steps};
use cases::CASES;
use judged::{Judged, Run};

/// The seeds of a usual run, and of a full one.
const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

/// The runs of a system.
type Runs = fn(Size) -> Vec<Run>;

/// All systems.
const SYSTEMS: [(&str, Runs); 6] = [
    ("captured connections", captured),
    ("hosts' counters", hosts::incidents::runs),
    ("mesh of probes", mesh::incidents::runs),
    ("inside hosts", hostping::incidents::runs),
    ("collectives, switches", collectives::incidents::runs),
    ("collectives, steps", steps::incidents::runs),
];

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let wanted = std::env::var("LAB_SYSTEM").unwrap_or_default();
    let systems = SYSTEMS.iter().filter(|(name, _)| name.contains(&wanted));
    systems
        .flat_map(|(name, runs)| of_system(name, &runs(size), size))
        .collect()
}

fn of_system(system: &str, runs: &[Run], size: Size) -> Vec<Line> {
    let (mut faulty, mut healthy) = (Judged::default(), Judged::default());
    let (mut faulty_runs, mut healthy_runs) = (0, 0);
    for (run, found) in runs.iter().zip(parallel::each(runs, |run| (run.judge)())) {
        if size.details || !found.is_perfect() {
            println!("{system}: {:<36} {found}", run.name);
        }
        let (sum, count) = match found.planted == 0 {
            true => (&mut healthy, &mut healthy_runs),
            false => (&mut faulty, &mut faulty_runs),
        };
        sum.add(&found);
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

fn captured(size: Size) -> Vec<Run> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let all = CASES.iter().flat_map(|case| (1..=seeds).map(move |seed| (case, seed)));
    all.map(|(case, seed)| Run::new(format!("{} seed {seed}", case.name), move || judge::judge(case, seed)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{SYSTEMS, Size, of_system};
    use crate::table::Line;

    /// One run in N of each system: `cargo xtask lab incidents` has all.
    const ONE_IN: [usize; 6] = [9, 37, 19, 2, 24, 3];

    #[test]
    fn every_planted_fault_is_one_incident() {
        let size = Size {
            full: false,
            details: true,
        };
        for ((name, runs), one_in) in SYSTEMS.iter().zip(ONE_IN) {
            let runs: Vec<_> = runs(size).into_iter().step_by(one_in).collect();
            let lines = of_system(name, &runs, size);
            assert!(lines.iter().all(Line::is_met), "{lines:#?}");
        }
    }
}
