//! Which fault is it, and where? Scripted runs with a known cause, judged by the analysis of `diagnose hosts`.
//!
//! A run has four to seven hosts with NICs of several drivers, traffic of the generator through the real pipeline, and
//! counters that a model of a NIC computes from the same packets and the same cause, read by the real reader from copies
//! of `/sys`. Every run has noise and loads that look like faults; see `docs/hosts-analysis-method.md`.
//!
//! ```text
//! LAB_CLASS=Incast cargo xtask lab hosts --full             # one cause
//! LAB_FIRST_SEED=101 cargo xtask lab hosts --full           # seeds on which no rule was changed
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `cause` | what is wrong in a run |
//! | `script` | hosts and flows of a run, and what its cause does to them |
//! | `frame`, `nic` | the model of a NIC; it shares nothing with the analysis |
//! | `world` | the hosts, and copies of their `/sys` |
//! | `run` | all rows of a run through the analysis; what is right |
//! | `paper` | tests: the three scenarios of the paper |
//! | `incidents` | the same runs, and what `diagnose` reports of them |
//! | `random` | random numbers of a run |

mod cause;
mod frame;
pub(crate) mod incidents;
mod nic;
#[cfg(test)]
mod paper;
mod random;
mod run;
mod script;
mod world;

use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use cause::Cause;
use rocescope_diagnose::hosts::HostVerdict;
use rocescope_model::{CounterRow, WindowRows};
use run::{run, wrong};
use script::Script;
use std::ops::Range;

/// Runs of each cause; what the documentation states is that of 20.
const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

/// Runs of one cause.
#[derive(Default)]
struct Score {
    right: u64,
    wrong: Vec<String>,
    frames: u64,
    rows: u64,
}

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let variable = |name| std::env::var(name).ok();
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let first = variable("LAB_FIRST_SEED").map_or(1, |text| text.parse().unwrap());
    let only = variable("LAB_CLASS");
    let is_chosen = |cause: &Cause| only.as_ref().is_none_or(|only| *only == format!("{cause:?}"));
    let causes: Vec<Cause> = Cause::ALL.into_iter().filter(is_chosen).collect();
    // Runs with a fault, and without one.
    let (mut right, mut all) = ([0; 2], [0; 2]);
    let mut below = 0.0;
    for (cause, score) in measured(&causes, first..first + seeds) {
        let class = cause.class().map_or("none", |class| class.name());
        if size.details {
            let (name, right) = (format!("{cause:?}"), score.right);
            println!(
                "{name:<16} {right:>3} of {seeds:>3} right: {class}; {} frames, {} rows",
                score.frames, score.rows
            );
        }
        score.wrong.iter().for_each(|line| println!("{cause:?}, {line}"));
        let is_quiet = usize::from(cause.class().is_none());
        right[is_quiet] += score.right;
        all[is_quiet] += seeds;
        below += f64::from(u8::from(score.right * 100 < seeds * 95));
    }
    vec![
        Line::new(
            "verdicts",
            all[0],
            "one verdict, right in all, %",
            percent(right[0], all[0]),
            Goal::AtLeast(95.0),
        ),
        Line::new(
            "causes",
            causes.len() as u64,
            "causes below 95 %",
            below,
            Goal::AtMost(0.0),
        ),
        Line::new(
            "quiet and busy",
            all[1],
            "runs without a verdict, %",
            percent(right[1], all[1]),
            Goal::AtLeast(100.0),
        ),
    ]
}

/// The counters of a run in which a cable is damaged.
pub(crate) fn damaged_cable() -> Vec<CounterRow> {
    run::play(&mut Script::new(Cause::DamagedCable, 1), 1).0
}

/// Each cause over its seeds.
fn measured(causes: &[Cause], seeds: Range<u64>) -> Vec<(Cause, Score)> {
    let of_cause = |cause: &Cause| seeds.clone().map(|seed| (*cause, seed)).collect::<Vec<_>>();
    let work: Vec<(Cause, u64)> = causes.iter().flat_map(of_cause).collect();
    let done = parallel::each(&work, |(cause, seed)| {
        let (script, outcome) = run(*cause, *seed);
        let wrong = wrong(&script, &outcome).map(|why| format!("seed {seed}: {why}"));
        (*cause, wrong, outcome.frames, outcome.rows)
    });
    let score = |cause: &Cause| {
        let mut score = Score::default();
        for (_, wrong, frames, rows) in done.iter().filter(|(other, ..)| other == cause) {
            score.right += u64::from(wrong.is_none());
            score.wrong.extend(wrong.clone());
            score.frames += frames;
            score.rows += rows;
        }
        score
    };
    causes.iter().map(|cause| (*cause, score(cause))).collect()
}

/// A run with a slow receiver, for tests of the command.
#[derive(Debug)]
pub struct SlowReceiver {
    /// Rows of each host that reads its counters, by its name.
    pub counters: Vec<(String, Vec<CounterRow>)>,
    /// Rows of the capture.
    pub captured: WindowRows,
    /// What the analysis makes of all rows.
    pub verdicts: Vec<HostVerdict>,
    /// The second of the run in which the fault begins.
    pub from: u64,
    /// Whether a NIC has a driver that lacks metrics.
    pub lacks_metrics: bool,
}

/// The start of every run, in nanoseconds since 1970.
pub const START_NS: i64 = run::START_NS;

/// Runs it.
#[must_use]
pub fn slow_receiver() -> SlowReceiver {
    let mut script = Script::new(Cause::SlowReceiver, 3);
    let (rows, captured, _) = run::play(&mut script, 3);
    let of_host = |number: usize| {
        let host = world::host(number);
        let rows: Vec<CounterRow> = rows.iter().filter(|row| *row.observer == host).cloned().collect();
        (host, rows)
    };
    SlowReceiver {
        counters: (0..script.drivers.len())
            .map(of_host)
            .filter(|(_, rows)| !rows.is_empty())
            .collect(),
        verdicts: run::analyze(&rows, &captured),
        captured,
        from: script.from,
        lacks_metrics: script.drivers.iter().any(|driver| *driver != nic::Driver::Mlx5),
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Line, Size};

    #[test]
    fn every_cause_gets_its_verdict_and_no_other_run_gets_one() {
        let size = Size {
            full: false,
            details: true,
        };
        let lines = super::evaluate(size);
        assert!(lines.iter().all(Line::is_met), "{lines:#?}");
    }
}
