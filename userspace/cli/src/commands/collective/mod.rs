//! `rocescope collective`: steps of collectives and telemetry of switches, from files.
//!
//! | module | what it does |
//! |---|---|
//! | `files` | reads a file, or those of a folder |
//! | `stored` | what a dataset already has of an import |
//! | `taps` | queues of ports from captures on both sides |
//! | `diagnose` | `rocescope diagnose collective` |

pub(super) mod diagnose;
pub(super) mod files;
mod stored;
mod taps;

use crate::arguments::{CollectiveAction, CollectiveFormat, CollectiveImportArguments};
use anyhow::{Result, ensure};
use rocescope_collective::read::{Imported, comma, flight_recorder, nccl_inspector, nccl_profiler, nccl_ras};
use rocescope_model::COLLECTIVE_TABLES;
use rocescope_model::human::plural;
use rocescope_runtime::status;
use rocescope_store::{Options, Writer};
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(action: &CollectiveAction) -> Result<ExitCode> {
    let CollectiveAction::Import(arguments) = action;
    import(arguments)
}

fn import(arguments: &CollectiveImportArguments) -> Result<ExitCode> {
    let path = &arguments.input;
    let observer = arguments.observer.as_str();
    let imported = match arguments.format {
        CollectiveFormat::Comma => comma::read(&files::read(path)?, observer),
        CollectiveFormat::NcclProfiler => nccl_profiler::read(&files::read(path)?, observer),
        CollectiveFormat::NcclInspector => nccl_inspector::read(&files::read(path)?, observer),
        CollectiveFormat::FlightRecorder => flight_recorder::read(&files::read(path)?, observer),
        CollectiveFormat::NcclRas => nccl_ras::read(&files::read(path)?, observer),
        CollectiveFormat::Taps => taps::read(path, observer)?,
    };
    for line in imported.complaints.lines() {
        match path.is_dir() {
            true => status!("rocescope: warning: {}/{line}", path.display()),
            false => status!("rocescope: warning: {line}"),
        }
    }
    ensure!(
        !imported.steps.is_empty() || !imported.telemetry.is_empty(),
        "{} has no steps and no telemetry in this format: nothing was written",
        path.display()
    );
    write(arguments, &imported)?;
    if arguments.format == CollectiveFormat::NcclRas {
        let ranks = plural(imported.steps.len() as u64, "rank");
        status!(
            "rocescope: counts of {ranks} of communicators in {}",
            arguments.out.display()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let steps = imported.steps.iter().filter(|row| row.step > 0).count() as u64;
    let others = imported.steps.len() as u64 - steps;
    status!(
        "rocescope: {}, {}, {} of telemetry in {}",
        plural(steps, "step"),
        plural(others, "other flow"),
        plural(imported.telemetry.len() as u64, "row"),
        arguments.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn write(arguments: &CollectiveImportArguments, imported: &Imported) -> Result<()> {
    let options = Options {
        tables: COLLECTIVE_TABLES,
        ..Options::new(&arguments.observer)
    };
    stored::check(&arguments.out, &arguments.observer, imported)?;
    let mut writer = Writer::create(&arguments.out, options)?;
    writer.append_tables(&[&imported.steps, &imported.telemetry], Instant::now())?;
    writer.finish()?;
    Ok(())
}
