//! `rocescope run`: a job with what it needs to be understood.
//!
//! | module | what it does |
//! |---|---|
//! | here | the job from its start to its end |
//! | `names` | the name of the job, and where its files go |
//! | `rows` | its start, its end and its steps in the dataset |
//! | `collect` | reads its files |

mod collect;
mod names;
mod rows;

use super::report::terminal_width;
use crate::arguments::RunArguments;
use anyhow::{Context, Result};
use names::Names;
use rocescope_analysis::report::incidents;
use rocescope_collective::job::settings;
use rocescope_host::owner::environment::RUN;
use rocescope_model::human::plural;
use rocescope_model::{RunRow, Time};
use rocescope_runtime::clock::now;
use rocescope_runtime::job::Job;
use rocescope_runtime::status;
use rocescope_store::TimeRange;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::process::{Command, ExitCode};

/// The statuses with which shells state that a program cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;
/// Times are printed in seconds.
const SECOND_NS: i64 = 1_000_000_000;

pub(super) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let started = now();
    let names = Names::of(arguments, started)?;
    // Of many ranks, one prints.
    let is_quiet = arguments.quiet || names.rank.is_some_and(|rank| rank > 0);
    let mut command = Command::new(names.program());
    command.args(&arguments.command[1..]);
    prepare(&mut command, &names, is_quiet)?;
    let mut writer = rows::open(&arguments.out, &names)?;
    let job = match Job::start(&mut command)? {
        Ok(job) => job,
        Err(error) => {
            status!("rocescope: cannot start {}: {error}", names.program().display());
            let status = if error.kind() == ErrorKind::NotFound {
                NOT_FOUND
            } else {
                NOT_STARTED
            };
            return Ok(ExitCode::from(status));
        }
    };
    let pid = job.id();
    if let Err(error) = rows::append(&mut writer, names.row(pid, started, None), &[]).and_then(|()| rows::seal(writer))
    {
        status!("rocescope: warning: the start of the job is not stored: {error:#}");
    }
    let ended = job.wait().context("how the job ended is unknown")?;
    let row = names.row(pid, now(), Some(ended));
    if let Err(error) = finish(arguments, &names, row, started, is_quiet) {
        status!("rocescope: warning: {error:#}");
    }
    Ok(ended.repeat())
}

/// Sets the variables and makes the folders that they name.
fn prepare(command: &mut Command, names: &Names, is_quiet: bool) -> Result<()> {
    let folder = &names.files;
    let failed = || format!("cannot make {}", folder.display());
    for below in collect::FOLDERS {
        fs::create_dir_all(folder.join(below)).with_context(failed)?;
    }
    let set = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let text = folder.to_str().context("the folder of the files is not UTF-8")?;
    if !is_quiet {
        status!("rocescope: job {}; its files are in {}", names.job_id, folder.display());
    }
    for setting in settings(text, names::has_profiler(), set) {
        if !setting.is_kept {
            command.env(&setting.name, &setting.value);
        }
        if !is_quiet {
            let what = if setting.is_kept { "already set" } else { "set" };
            status!("rocescope: {what}: {}={}", setting.name, setting.value);
        }
    }
    command.env(RUN, &names.name);
    if !is_quiet {
        status!("rocescope: set: {RUN}={}", names.name);
    }
    Ok(())
}

/// Stores the end of the job and what its files have, and prints what was wrong meanwhile.
fn finish(arguments: &RunArguments, names: &Names, row: RunRow, started: Time, is_quiet: bool) -> Result<()> {
    let ended = row.time;
    let found = collect::read(&names.files, &names.observer, started);
    let stored = (|| {
        let mut writer = rows::open(&arguments.out, names)?;
        rows::append(&mut writer, row, &found.steps)?;
        rows::seal(writer)
    })();
    if let Err(error) = stored {
        let steps = plural(found.steps.len() as u64, "step");
        status!("rocescope: warning: the end of the job and {steps} are not stored: {error:#}");
    }
    if is_quiet {
        return Ok(());
    }
    let root = arguments.out.display();
    if !found.steps.is_empty() {
        status!("rocescope: {} in {root}", plural(found.steps.len() as u64, "step"));
    }
    if found.failed_transfers > 0 {
        status!(
            "rocescope: {} in the log of NCCL: `rocescope diagnose collective {root} --nccl-debug {}`",
            plural(found.failed_transfers, "failed transfer"),
            names.files.join(rocescope_collective::job::LOGS).display()
        );
    }
    let time = TimeRange {
        from: Some(started),
        to: Some(Time(ended.0.saturating_add(1))),
    };
    let hosts = arguments.hosts.names();
    let document = incidents(&arguments.out, time, &hosts).context("no incidents of the job's time")?;
    if document.judged.is_empty() {
        status!("rocescope: no incidents are known: {root} has no other rows of the job's time");
    } else {
        for line in hosts.text(&document.text(terminal_width())).lines() {
            status!("{line}");
        }
    }
    let to = Time(ended.0.saturating_add(SECOND_NS));
    status!("rocescope: with rows that come later: `rocescope diagnose {root} --from {started:.0} --to {to:.0}`");
    Ok(())
}
