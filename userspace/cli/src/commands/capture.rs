//! `rocescope capture`: frames in, sketches and a dataset out.

use super::input;
use crate::arguments::{CaptureArguments, Output};
use crate::output::{Source, check, json, text};
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::status::notices;
use crate::stdout::print;
use anyhow::Result;
use rocescope_capture::file::FileSpan;
use rocescope_engine::dataset::Origin;
use rocescope_engine::live::check::PortCheck;
use rocescope_engine::live::{LiveCapture, LiveReport};
use rocescope_engine::replay;
use rocescope_engine::{CaptureRequest, EngineError, IntakeRequest, Outcome, Session, Signals};
use std::process::ExitCode;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
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
        verify_icrc: arguments.verify_icrc,
        files,
        input_error,
        live,
    };
    print(&match arguments.output {
        Output::Json => json::summary(&source, outcome),
        Output::Table => text::summary(&source, outcome),
    })?;
    Ok(outcome.check()?)
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
