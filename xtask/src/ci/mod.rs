//! `cargo xtask ci [--full | STEP…]`: the checks of a change. `.ci/run` installs their tools.
//!
//! | module | contents |
//! |---|---|
//! | `steps` | every step, and what it guards |
//! | `suites` | the tests and the summaries of their runners |
//! | `readme`, `fleet`, `hygiene` | what steps do that take more than a few lines |
//!
//! Every change must pass `GATE`: 22 minutes on two processors, 20 are the aim. `--full` adds `SLOW`: steps that take
//! minutes and rarely break. Run them by hand before a release, and after changes to the code that they check. Names of
//! steps run these alone, `tests` included.
//!
//! Compiling takes most of the time, so the gate compiles every dependency twice: lints, default features and documentation
//! share what `cargo check` leaves; the tests, the testbed's tasks, the commands of the README, the examples and the queries
//! share one debug build of `--workspace`. Fewer packages would give dependencies other features and compile them again. The
//! release build is part of `--full`: no step of the gate depends on a profile.
//!
//! A failed step does not stop the others: the end of the log lists all failures. The tests run last, so that their
//! summary ends the log.

mod fleet;
mod hygiene;
mod readme;
mod steps;
mod suites;

use anyhow::{Result, bail};
use std::time::{Duration, Instant};
use steps::{GATE, SLOW, TESTS};

/// Which steps to run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'a> {
    /// Every change must pass these.
    Gate,
    /// The slow ones too.
    Full,
    /// These alone, by name.
    Named(&'a [&'a str]),
}

impl Choice<'_> {
    fn includes(self, name: &str, is_slow: bool) -> bool {
        match self {
            Self::Gate => !is_slow,
            Self::Full => true,
            Self::Named(names) => names.contains(&name),
        }
    }
}

/// Runs the chosen steps, then the tests.
pub(crate) fn run(choice: Choice<'_>) -> Result<()> {
    check_names(choice)?;
    let begun = Instant::now();
    let mut ended = Vec::new();
    let mut failed = Vec::new();
    let gate = GATE.iter().map(|step| (step, false));
    let steps = gate.chain(SLOW.iter().map(|step| (step, true)));
    for (step, _) in steps.filter(|(step, is_slow)| choice.includes(step.name, *is_slow)) {
        let (took, result) = timed(step.name, step.guards, step.run);
        ended.push((step.name, took, result.is_ok()));
        if let Err(error) = result {
            eprintln!("{}: {error:#}", step.name);
            failed.push(step.name);
        }
    }
    let mut lines = Vec::new();
    if choice.includes(TESTS, false) {
        let (took, result) = timed(TESTS, "what the product promises", || suites::run(&mut lines));
        ended.push((TESTS, took, result.is_ok()));
        if let Err(error) = result {
            eprintln!("{TESTS}: {error:#}");
            failed.push(TESTS);
        }
    }
    println!("\n== timings");
    for (name, took, passed) in ended {
        let verdict = if passed { "" } else { "FAILED" };
        println!("{:>7.1} s  {name:<16} {verdict}", took.as_secs_f64());
    }
    println!("{:>7.1} s  all", begun.elapsed().as_secs_f64());
    println!("\n== tests");
    for line in lines {
        println!("{line}");
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn check_names(choice: Choice<'_>) -> Result<()> {
    let Choice::Named(names) = choice else {
        return Ok(());
    };
    let steps: Vec<&str> = GATE.iter().chain(SLOW).map(|step| step.name).chain([TESTS]).collect();
    match names.iter().find(|name| !steps.contains(name)) {
        Some(unknown) => bail!("no step is named {unknown:?}; the steps are: {}", steps.join(", ")),
        None => Ok(()),
    }
}

fn timed(name: &str, guards: &str, step: impl FnOnce() -> Result<()>) -> (Duration, Result<()>) {
    println!("\n== {name}: {guards}");
    let begun = Instant::now();
    let result = step();
    (begun.elapsed(), result)
}
