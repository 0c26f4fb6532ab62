//! Incidents of captured traffic: one for each planted fault, of the right class and place, and none beside it.
//!
//! Each case is a scenario of eight hosts that all talk to each other, with faults in it. The generator plants them; what
//! is expected is beside the scenario.
//!
//! | module | what it holds |
//! |---|---|
//! | `cases` | the scenarios, and the incidents that each must give |
//! | `judge` | a scenario, generated, analyzed and compared |

mod cases;
mod judge;

use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use cases::{CASES, Case};
use judge::Judged;

/// The seeds of a usual run, and of a full one.
const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let runs: Vec<(&Case, u64)> = CASES
        .iter()
        .flat_map(|case| (1..=seeds).map(move |seed| (case, seed)))
        .collect();
    let judged = parallel::each(&runs, |(case, seed)| judge::judge(case, *seed));
    let (mut faulty, mut healthy) = (Judged::default(), Judged::default());
    let (mut faulty_runs, mut healthy_runs) = (0, 0);
    for ((case, seed), found) in runs.iter().zip(&judged) {
        if size.details || !found.is_perfect() {
            println!("{:<28} seed {seed:<3} {found}", case.name);
        }
        let (sum, count) = match case.expected.is_empty() {
            true => (&mut healthy, &mut healthy_runs),
            false => (&mut faulty, &mut faulty_runs),
        };
        sum.add(found);
        *count += 1;
    }
    vec![
        Line::new(
            "planted faults",
            faulty.planted,
            "reported, right class and place, %",
            percent(faulty.right, faulty.planted),
            Goal::AtLeast(95.0),
        ),
        Line::new(
            "planted faults",
            faulty_runs,
            "further incidents",
            faulty.further as f64,
            Goal::AtMost(0.0),
        ),
        Line::new(
            "quiet and busy",
            healthy_runs,
            "incidents",
            healthy.further as f64,
            Goal::AtMost(0.0),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Size, evaluate};

    #[test]
    fn every_planted_fault_is_one_incident() {
        let size = Size {
            full: false,
            details: true,
        };
        let lines = evaluate(size);
        assert!(lines.iter().all(crate::table::Line::is_met), "{lines:#?}");
    }
}
