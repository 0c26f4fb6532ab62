//! `rocescope capture`: frames in, sketches and a dataset out.

use super::input;
use super::judging::judging;
use super::membership::Membership;
use super::serve::{self, Shown};
use crate::arguments::{CaptureArguments, Format};
use crate::color;
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::rows;
use crate::status::{notices, status_lines};
use crate::status_line;
use crate::stdout::{print, print_line};
use anyhow::{Context, Result, ensure};
use rocescope_agent::subscription::Subscription;
use rocescope_analysis::incidents::Reports;
use rocescope_capture::file::{FileSpan, FrameSource};
use rocescope_collector::control::message::Role;
use rocescope_diagnose::incidents::Document;
use rocescope_engine::document::{Source, check, flow_rows, json, ports, text};
use rocescope_engine::intake::Tap;
use rocescope_engine::live::check::PortCheck;
use rocescope_engine::live::{LiveCapture, LiveReport};
use rocescope_engine::origin::Origin;
use rocescope_engine::replay;
use rocescope_engine::{CaptureRequest, EngineError, IntakeRequest, Outcome, Session};
use rocescope_host::port::Port;
use rocescope_model::lines;
use rocescope_model::{Row, WindowRows};
use rocescope_runtime::Signals;
use rocescope_runtime::status;
use std::io::IsTerminal;
use std::ops::ControlFlow;
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
        ensure!(
            arguments.output != Format::Jsonl,
            "standard output carries the frames of `--write -`: write them to a file for `-o jsonl`"
        );
    }
    let is_set = arguments.write_bytes.is_some() || arguments.write_age.is_some();
    ensure!(
        arguments.write_files.is_none() || is_set,
        "--write-files keeps the newest of several files: say with --write-bytes or --write-age when another begins"
    );
    ensure!(
        !is_set || arguments.write.as_deref() != Some(Path::new("-")),
        "--write-bytes and --write-age write several files, and standard output is one: give --write a file"
    );
    if arguments.check.is_some() {
        ensure_document("--check", arguments.output)?;
    }
    let request = requests::capture(arguments)?;
    if arguments.read.is_empty() {
        of_interfaces(arguments, request)
    } else {
        of_files(arguments, request.intake)
    }
}

fn of_files(arguments: &CaptureArguments, mut request: IntakeRequest) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let mut files = input::open(&arguments.read, &signals)?;
    input::ensure_not_written(&files, arguments.write.as_deref())?;
    // Frames of a file are as old as they are: an age that bounds the dataset of a live capture, perhaps in the configuration
    // file, would delete what has just been read.
    if let Some(dataset) = request.dataset.as_mut().filter(|_| !files.is_pipe()) {
        dataset.keep_age = None;
    }
    let mut session = Session::open(&request, &Origin::files(&files), &notices())?;
    let lines = (arguments.output == Format::Jsonl).then(|| windows(arguments));
    let reports = Reports {
        on_incident: arguments.on_incident.clone(),
        observer: arguments.measure.observer.clone(),
        names: (*arguments.hosts.names()).clone(),
        mirror_sampling: arguments.measure.mirror_sampling,
        ..Reports::default()
    };
    let (tap, captured) = judging(reports, lines);
    session.tap(tap);
    let progress = Progress::new(files.length(), arguments.quiet);
    let ended = replay::replay(&mut files, &mut session, &signals, |bytes| {
        progress.at(bytes);
    });
    progress.done();
    // Results from before the input error are still valid.
    let input_error = match ended {
        Ok(()) => None,
        // No one reads the lines any more.
        Err(EngineError::Stopped) => return Ok(ExitCode::SUCCESS),
        Err(EngineError::File(error)) => Some(error),
        // The dataset is there, and has no windows.
        Err(error @ EngineError::NoFrames(_)) => {
            session.finish()?;
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let outcome = match session.finish() {
        Err(EngineError::Stopped) => return Ok(ExitCode::SUCCESS),
        finished => finished?,
    };
    let found = captured.borrow_mut().finish();
    summarize(arguments, files.name(), files.files(), None, &outcome, &found)?;
    match input_error {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn of_interfaces(arguments: &CaptureArguments, request: CaptureRequest) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let is_check = arguments.check.is_some();
    let observer = &arguments.measure.observer;
    let subscription = arguments.subscription.settings().map(|(settings, file)| {
        let member = Membership::open(Role::Capture, file).member;
        Subscription::open(settings, observer, member, signals.reloader())
    });
    let subscription = subscription.filter(|_| !is_check);
    let member = subscription.as_ref().map(Subscription::member);
    let metrics = request.metrics.as_ref().map(|metrics| metrics.incidents.clone());
    let capture = LiveCapture::open(request, signals, reload(member)?, notices())?;
    let name = capture.origin().source.clone();
    let is_lines = arguments.output == Format::Jsonl && arguments.check.is_none();
    let lines = is_lines.then(|| windows(arguments));
    let tap = lines.or_else(|| status_line::tap(arguments));
    let records = arguments.recorder.keep_frames.is_some();
    let asked = subscription.as_ref().filter(|_| records).and_then(Subscription::asked);
    let tap = match subscription {
        Some(subscription) => Some(subscription.tap(tap)?),
        None => tap,
    };
    let reports = Reports {
        lines: (!arguments.quiet && !is_check).then(status_lines),
        on_incident: arguments.on_incident.clone().filter(|_| !is_check),
        metrics,
        observer: arguments.measure.observer.clone(),
        names: (*arguments.hosts.names()).clone(),
        mirror_sampling: arguments.measure.mirror_sampling,
        ..Reports::default()
    };
    let page = serve::page(
        &arguments.page,
        Shown {
            title: name.clone(),
            dataset: arguments.dataset.out.clone(),
            is_fed: true,
            names: arguments.hosts.names(),
            mirror_sampling: arguments.measure.mirror_sampling,
        },
    )?;
    let tap = match page {
        Some(page) => Some(serve::tap(page.feed(), tap)),
        None => tap,
    };
    let (tap, captured) = judging(reports, tap);
    let (report, outcome) = match capture.run(Some(tap), asked) {
        Err(EngineError::Stopped) => return Ok(ExitCode::SUCCESS),
        ended => ended?,
    };
    match arguments.check {
        Some(seconds) => {
            let found = captured.borrow_mut().finish();
            let check = PortCheck::of(&report, &outcome, &found, seconds);
            conclude(arguments.output, &check, &outcome)
        }
        None => {
            let found = captured.borrow_mut().finish();
            summarize(arguments, name, &[], Some(report.clone()), &outcome, &found)?;
            report.check()?;
            Ok(report.exit_status().map_or(ExitCode::SUCCESS, ExitCode::from))
        }
    }
}

/// Prints the summary first, then returns the error of an incomplete outcome.
fn summarize(
    arguments: &CaptureArguments,
    name: String,
    files: &[FileSpan],
    live: Option<LiveReport>,
    outcome: &Outcome,
    incidents: &Document,
) -> Result<()> {
    let hosts = arguments.hosts.names();
    let source = Source {
        name,
        hosts: &hosts,
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        udp_ports: &arguments.udp_ports,
        verify_icrc: arguments.verify_icrc,
        files,
        live,
        incidents: Some(incidents),
        width: super::report::terminal_width(),
    };
    let summary = match arguments.output {
        Format::Json => hosts.json(&json::summary(&source, outcome)),
        Format::Jsonl => hosts.json(&json::line(&source, outcome)),
        Format::Table => text::summary(&source, outcome, color::of_stdout()),
        format @ (Format::Csv | Format::Markdown) => rows::text(&flow_rows(&outcome.summary), format, &hosts),
    };
    // Standard output may carry the frames.
    match &outcome.frames {
        Some(frames) if frames.path == Path::new("-") => status!("{}", summary.trim_end()),
        _ => print(&summary)?,
    }
    Ok(outcome.check()?)
}

fn list_interfaces(output: Format) -> Result<ExitCode> {
    ensure_document("--list-interfaces", output)?;
    let ports = Port::all().context("the interfaces cannot be listed")?;
    print(&match output {
        Format::Table => ports::text(&ports),
        _ => ports::json(&ports),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is no rows has two formats.
fn ensure_document(option: &str, output: Format) -> Result<()> {
    let is_document = matches!(output, Format::Table | Format::Json | Format::Jsonl);
    ensure!(is_document, "{option} prints no rows: `-o table` or `-o json`");
    Ok(())
}

/// Prints every window as a line when it ends. When no one reads them any more, that ends a capture which stores nothing.
fn windows(arguments: &CaptureArguments) -> Tap {
    let is_stored = arguments.dataset.out.is_some() || arguments.write.is_some();
    let hosts = arguments.hosts.names();
    // Rows of connections and events may come before their window.
    let mut early = WindowRows::default();
    let mut is_read = true;
    Box::new(move |rows| {
        if !is_read {
            return ControlFlow::Continue(());
        }
        early.events.extend_from_slice(&rows.events);
        early.connections.extend_from_slice(&rows.connections);
        for window in &rows.windows {
            let is_of = |start_ns| start_ns == window.window_start_ns;
            let flows = rows.flows.iter().filter(|row| is_of(row.window_start_ns));
            let opcodes = rows.opcodes.iter().filter(|row| is_of(row.window_start_ns));
            let pdcs = rows.pdcs.iter().filter(|row| is_of(row.window_start_ns));
            let line = WindowRows {
                windows: vec![window.without_sketches()],
                flows: flows.cloned().collect(),
                opcodes: opcodes.cloned().collect(),
                pdcs: pdcs.cloned().collect(),
                ..std::mem::take(&mut early)
            };
            // An error of standard output ends the lines as a closed pipe does.
            is_read = print_line(&hosts.json(&lines::window(&line, None, &[], None))).unwrap_or(false);
        }
        match is_read || is_stored {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })
}

/// Prints the verdict on the port.
fn conclude(output: Format, port: &PortCheck, outcome: &Outcome) -> Result<ExitCode> {
    let findings = port.findings();
    print(&match output {
        Format::Table => check::text(port, &findings),
        _ => check::json(port, &findings),
    })?;
    outcome.check()?;
    Ok(if port.roce == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
