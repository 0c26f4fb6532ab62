//! The name of a job, and where its files go.

use crate::arguments::RunArguments;
use anyhow::{Context, Result, ensure};
use rocescope_host::owner::environment::{Environment, RUN};
use rocescope_model::human::visible;
use rocescope_model::{RunRow, Text, Time};
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::job::Ended;
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process;

/// The library that NCCL loads by itself.
const PROFILER: &str = "libnccl-profiler.so";
/// More of a command line is not stored.
const MAX_COMMAND: usize = 1024;

/// The names of a job.
pub(super) struct Names {
    pub(super) host: String,
    pub(super) name: String,
    /// As its processes have it in `queue_pairs`.
    pub(super) job_id: String,
    pub(super) rank: Option<u32>,
    pub(super) observer: String,
    pub(super) files: PathBuf,
    job_step: Option<String>,
    command: Vec<OsString>,
    is_command_stored: bool,
    started: Time,
}

impl Names {
    pub(super) fn of(arguments: &RunArguments, started: Time) -> Result<Self> {
        let host = host_name()?;
        let command = arguments.command.clone();
        let program = command.first().context("no command")?;
        let inherited = env::var(RUN).ok().filter(|name| !name.trim().is_empty());
        let time = format!("{started:.0}").replace(['-', ':'], "");
        let name = arguments.name.clone().or(inherited).unwrap_or_else(|| {
            let program = Path::new(program).file_name().unwrap_or(program);
            format!("{}-{time}", visible(&program.to_string_lossy()))
        });
        let scheduled = Environment::parse(&environment(&name));
        let rank = scheduled.rank;
        let observer = match rank {
            Some(rank) => format!("{host}.run.{rank}"),
            None => format!("{host}.run"),
        };
        let files = arguments.files.clone().unwrap_or_else(|| {
            // A name may have anything, and another run the same one.
            let mut folder = arguments.out.clone().into_os_string();
            folder.push(".files");
            Path::new(&folder).join(format!("{host}-{time}-{}", process::id()))
        });
        // The job may change its directory.
        let files = std::path::absolute(&files).with_context(|| files.display().to_string())?;
        ensure!(
            !files.as_os_str().as_bytes().contains(&b'%'),
            "{} has a %, which NCCL replaces in names of files: `--files DIR` names another folder",
            files.display()
        );
        Ok(Self {
            job_id: scheduled.job.unwrap_or_else(|| name.clone()),
            job_step: scheduled.step,
            rank,
            host,
            name,
            observer,
            files,
            command,
            is_command_stored: !arguments.no_commands,
            started,
        })
    }

    pub(super) fn program(&self) -> &OsStr {
        self.command.first().map(OsString::as_os_str).unwrap_or_default()
    }

    /// The row of its start, or of its end.
    pub(super) fn row(&self, pid: u32, time: Time, ended: Option<Ended>) -> RunRow {
        let text = |text: &str| Text::from(text.to_owned());
        RunRow {
            observer: text(&self.observer),
            time,
            time_ns: time.0,
            host: text(&self.host),
            name: text(&self.name),
            job_id: text(&self.job_id),
            job_step: self.job_step.as_deref().map(text),
            rank: self.rank,
            pid,
            command: self.is_command_stored.then(|| self.command_line().into()),
            files: self.files.display().to_string().into(),
            event: Text::from_static(if ended.is_some() {
                RunRow::ENDED
            } else {
                RunRow::STARTED
            }),
            started_ns: self.started.0,
            exit_status: match ended {
                Some(Ended::Exited(status)) => Some(status),
                _ => None,
            },
            signal: ended.and_then(Ended::signal).map(Text::from),
        }
    }

    fn command_line(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        let mut line = words.join(" ");
        line.truncate(line.floor_char_boundary(MAX_COMMAND));
        line
    }
}

/// The environment of the job as the kernel shows it.
fn environment(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let inherited = env::vars_os().filter(|(variable, _)| variable != RUN);
    for (variable, value) in inherited.chain([(RUN.into(), name.into())]) {
        bytes.extend_from_slice(variable.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Whether NCCL loads a plug-in that profiles.
pub(super) fn has_profiler() -> bool {
    match env::var_os("NCCL_PROFILER_PLUGIN") {
        Some(plugin) => !plugin.is_empty() && plugin != "none",
        None => env::var_os("LD_LIBRARY_PATH")
            .is_some_and(|paths| env::split_paths(&paths).any(|path| path.join(PROFILER).is_file())),
    }
}
