//! `rocescope capture`: frames in, sketches and a dataset out.

use super::input;
use crate::arguments::{CaptureArguments, Output};
use crate::output::color::Color;
use crate::output::{Source, check, json, ports, text};
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::status::{notices, status};
use crate::stdout::print;
use anyhow::{Context, Result, ensure};
use rocescope_capture::file::FileSpan;
use rocescope_engine::dataset::Origin;
use rocescope_engine::live::check::PortCheck;
use rocescope_engine::live::{LiveCapture, LiveReport};
use rocescope_engine::replay;
use rocescope_engine::{CaptureRequest, EngineError, IntakeRequest, Outcome, Session, Signals};
use rocescope_host::port::Port;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
    if arguments.list_interfaces {
        return list_interfaces(arguments.output);
    }
    if arguments.write.as_deref() == Some(Path::new("-")) {
        ensure!(
            !std::io::stdout().is_terminal(),
            "standard output is a terminal: `--write -` writes frames to a pipe or a file"
        );
    }
    let request = requests::capture(arguments)?;
    if arguments.read.is_empty() {
        of_interfaces(arguments, request)
    } else {
        of_files(arguments, &request.intake)
    }
}

fn of_files(arguments: &CaptureArguments, request: &IntakeRequest) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let mut files = input::open(&arguments.read, &signals)?;
    input::ensure_not_written(&files, arguments.write.as_deref())?;
    let mut session = Session::open(request, &Origin::files(&files), &notices())?;
    let progress = Progress::new(files.length(), arguments.quiet);
    let ended = replay::replay(&mut files, &mut session, &signals, |bytes| {
        progress.at(bytes);
    });
    progress.done();
    // Results from before the input error are still valid.
    let input_error = match ended {
        Ok(()) => None,
        Err(EngineError::File(error)) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let outcome = session.finish()?;
    let why = input_error.as_ref().map(ToString::to_string);
    summarize(arguments, files.name(), files.files(), why, None, &outcome)?;
    match input_error {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn of_interfaces(arguments: &CaptureArguments, request: CaptureRequest) -> Result<ExitCode> {
    let capture = LiveCapture::open(request, Signals::install()?, reload()?, notices())?;
    let name = capture.origin().source.clone();
    let (report, outcome) = capture.run(None)?;
    match arguments.check {
        Some(seconds) => {
            let check = PortCheck::of(&report, &outcome, seconds);
            conclude(arguments.output, &check, &outcome)
        }
        None => {
            summarize(arguments, name, &[], None, Some(report), &outcome)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Prints the summary first, then returns the error of an incomplete outcome.
fn summarize(
    arguments: &CaptureArguments,
    name: String,
    files: &[FileSpan],
    input_error: Option<String>,
    live: Option<LiveReport>,
    outcome: &Outcome,
) -> Result<()> {
    let source = Source {
        name,
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        udp_ports: &arguments.udp_ports,
        verify_icrc: arguments.verify_icrc,
        files,
        input_error,
        live,
    };
    let summary = match arguments.output {
        Output::Json => json::summary(&source, outcome),
        Output::Table => text::summary(&source, outcome, Color::of_stdout()),
    };
    // Standard output may carry the frames.
    match &outcome.frames {
        Some(frames) if frames.path == Path::new("-") => status!("{}", summary.trim_end()),
        _ => print(&summary)?,
    }
    Ok(outcome.check()?)
}

fn list_interfaces(output: Output) -> Result<ExitCode> {
    let ports = Port::all().context("the interfaces cannot be listed")?;
    print(&match output {
        Output::Table => ports::text(&ports),
        Output::Json => ports::json(&ports),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the verdict on the port.
fn conclude(output: Output, port: &PortCheck, outcome: &Outcome) -> Result<ExitCode> {
    let findings = port.findings();
    print(&match output {
        Output::Table => check::text(port, &findings),
        Output::Json => check::json(port, &findings),
    })?;
    outcome.check()?;
    Ok(if port.roce == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
