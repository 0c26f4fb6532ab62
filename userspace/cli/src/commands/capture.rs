//! `rocescope capture`: frames in, sketches and a dataset out.

use crate::arguments::{CaptureArguments, Output};
use crate::output::{Source, check, json, text};
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::status::notices;
use crate::stdout::print;
use anyhow::{Context, Result};
use rocescope_capture::file::FrameReader;
use rocescope_engine::dataset::Origin;
use rocescope_engine::live::check::PortCheck;
use rocescope_engine::live::{LiveCapture, LiveReport};
use rocescope_engine::replay;
use rocescope_engine::{CaptureRequest, EngineError, IntakeRequest, Outcome, Session, Signals};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
    let request = requests::capture(arguments)?;
    match &arguments.read {
        Some(path) => of_file(path, arguments, &request.intake),
        None => of_interfaces(arguments, request),
    }
}

fn of_file(path: &Path, arguments: &CaptureArguments, request: &IntakeRequest) -> Result<ExitCode> {
    let at = || path.display().to_string();
    let signals = Signals::install()?;
    let input = replay::open(path, &signals).with_context(at)?;
    let length = input.length;
    let mut reader = FrameReader::new(input).with_context(at)?;
    let mut session = Session::open(request, &Origin::file(path), &notices())?;
    let progress = Progress::new(length, arguments.quiet);
    let ended = replay::replay(&mut reader, &mut session, &signals, |bytes| {
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
    summarize(arguments, at(), why, None, &outcome)?;
    match input_error {
        Some(error) => Err(error).with_context(at),
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
            summarize(arguments, name, None, Some(report), &outcome)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Prints the summary first, then returns the error of an incomplete outcome.
fn summarize(
    arguments: &CaptureArguments,
    name: String,
    input_error: Option<String>,
    live: Option<LiveReport>,
    outcome: &Outcome,
) -> Result<()> {
    let source = Source {
        name,
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        verify_icrc: arguments.verify_icrc,
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
