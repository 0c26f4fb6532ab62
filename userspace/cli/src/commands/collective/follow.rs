//! `rocescope collective follow`: steps of collectives, while jobs write them. `rocescope agent` follows the same files.

use crate::arguments::CollectiveFollowArguments;
use anyhow::{Context, Result};
use rocescope_agent::collective::STEP;
use rocescope_agent::collective::follow::Following;
use rocescope_model::human::plural;
use rocescope_model::{Row, StepRow};
use rocescope_runtime::clock::now;
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use rocescope_store::{Options, Writer};
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &CollectiveFollowArguments) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let out = arguments.out.as_ref().context("set --out DATASET")?;
    let observer = match &arguments.observer {
        Some(observer) => observer.clone(),
        None => host_name()?,
    };
    if arguments.ranks.is_some() {
        status!("steps are not watched: that needs the probes of `rocescope agent`");
    }
    let mut following = Following::new(&arguments.steps, arguments.format.into(), &observer);
    let options = Options {
        tables: &[StepRow::TABLE],
        ..Options::new(&*observer)
    };
    let mut writer = Writer::create(out, options)?;
    let mut service = Service::default();
    let begun = Instant::now();
    let is_over = || arguments.duration.is_some_and(|duration| begun.elapsed() >= duration);
    let mut steps = 0;
    while !signals.ended() && !is_over() {
        service.alive(Instant::now());
        for appended in following.turn(now().0) {
            steps += appended.ended.steps.len() as u64;
            writer.append_cells(&appended.ended.steps, Instant::now())?;
        }
        signals.wait(STEP);
    }
    Service::stopping();
    let open = following.open();
    steps += open.len() as u64;
    writer.append_cells(&open, Instant::now())?;
    writer.finish()?;
    status!("rocescope: {} in {}", plural(steps, "step"), out.display());
    Ok(ExitCode::SUCCESS)
}
