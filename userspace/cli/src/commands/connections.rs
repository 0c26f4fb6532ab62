//! `rocescope connections`: loss, reordering and latency of each queue pair.

use crate::arguments::{ConnectionsArguments, Output};
use crate::output::connections::{Report, gather, json, text};
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::status::notices;
use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::file::FrameReader;
use rocescope_engine::dataset::Origin;
use rocescope_engine::live::LiveCapture;
use rocescope_engine::{EngineError, Outcome, Session, Signals, replay};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::connections::ConnectionSummary;
use std::path::Path;
use std::process::ExitCode;

/// The rows of a source.
struct Found {
    connections: Vec<ConnectionRow>,
    events: Vec<EventRow>,
    summary: Option<ConnectionSummary>,
    /// Why the input ended early.
    error: Option<anyhow::Error>,
}

/// Kinds of events that belong to connections instead of windows.
const KINDS: [&str; 8] = [
    "retransmission",
    "rnr_episode",
    "fatal_nak",
    "retry_exhausted",
    "loss",
    "connect",
    "disconnect",
    "reject",
];

pub(super) fn run(arguments: &ConnectionsArguments) -> Result<ExitCode> {
    let (source, found) = match (&arguments.read, &arguments.dataset) {
        (Some(path), None) => (path.display().to_string(), of_file(path, arguments)?),
        (None, Some(path)) => (path.display().to_string(), of_dataset(path)?),
        (None, None) if !arguments.live.interfaces.is_empty() => of_interfaces(arguments)?,
        _ => bail!("no input: set --interface or --read, or name a dataset"),
    };
    let mut events = found.events;
    events.retain(|event| KINDS.contains(&&*event.kind));
    events.sort_by_key(|event| event.time_ns);
    let mut connections = gather(found.connections);
    if let Some(filter) = &arguments.filter {
        connections.retain(|connection| connection.matches(filter));
    }
    let report = Report {
        source: &source,
        connections: &connections,
        events: &events,
        summary: found.summary,
        max_rows: arguments.measure.top,
    };
    crate::print(&match arguments.output {
        Output::Json => json(&report),
        Output::Table => text(&report),
    })?;
    match found.error {
        Some(error) => Err(error).with_context(|| source),
        None => Ok(ExitCode::SUCCESS),
    }
}

impl Found {
    fn of(outcome: Outcome, error: Option<anyhow::Error>) -> Self {
        let (connections, events) = outcome.kept.unwrap_or_default();
        Self {
            connections,
            events,
            summary: outcome.connections,
            error,
        }
    }
}

fn of_file(path: &Path, arguments: &ConnectionsArguments) -> Result<Found> {
    let signals = Signals::install()?;
    let input = replay::open(path, &signals).with_context(|| path.display().to_string())?;
    let progress = Progress::new(input.length, arguments.quiet);
    let mut reader = FrameReader::new(input).with_context(|| path.display().to_string())?;
    let request = requests::connections(arguments)?.intake;
    let mut session = Session::open(&request, &Origin::file(path), &notices())?;
    let ended = replay::replay(&mut reader, &mut session, &signals, |at| progress.at(at));
    progress.done();
    let error = match ended {
        Ok(()) => None,
        // Results from before the input error are still valid.
        Err(EngineError::File(error)) => Some(error.into()),
        Err(error) => return Err(error.into()),
    };
    Ok(Found::of(session.finish()?, error))
}

/// Captures until something ends it; returns the names of the interfaces too.
fn of_interfaces(arguments: &ConnectionsArguments) -> Result<(String, Found)> {
    let request = requests::connections(arguments)?;
    let capture = LiveCapture::open(request, Signals::install()?, reload()?, notices())?;
    let names = capture.origin().source.clone();
    let (_, outcome) = capture.run(None)?;
    outcome.check()?;
    Ok((names, Found::of(outcome, None)))
}

fn of_dataset(root: &Path) -> Result<Found> {
    let found = rocescope_store::open(root)?;
    for unreadable in &found.unreadable {
        eprintln!("rocescope: {}: {}", unreadable.path.display(), unreadable.reason);
    }
    let connections = found.rows::<ConnectionRow>()?;
    ensure!(
        !connections.is_empty(),
        "{} has no connections: capture with --connections",
        root.display()
    );
    Ok(Found {
        connections,
        events: found.rows::<EventRow>()?,
        summary: None,
        error: None,
    })
}
