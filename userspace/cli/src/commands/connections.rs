//! `rocescope connections`: loss, reordering and latency of each queue pair.

use super::input;
use super::readable::files;
use super::report::terminal_width;
use super::span;
use crate::arguments::{ConnectionsArguments, Format};
use crate::color;
use crate::progress::Progress;
use crate::reload::reload;
use crate::requests;
use crate::rows;
use crate::status::notices;
use anyhow::{Result, anyhow, bail};
use rocescope_analysis::incidents::stated_sampling;
use rocescope_analysis::owners;
use rocescope_analysis::report::CONNECTIONS_NS;
use rocescope_capture::file::FrameSource;
use rocescope_diagnose::incidents::Wire;
use rocescope_diagnose::owners::ends;
use rocescope_engine::document::connections::{
    Connection, Gathered, Report, gather, has_owners, json, name, owned, text,
};
use rocescope_engine::document::files::notes;
use rocescope_engine::live::LiveCapture;
use rocescope_engine::origin::Origin;
use rocescope_engine::{EngineError, Outcome, Session, replay};
use rocescope_model::{ConnectionRow, EventRow, Row};
use rocescope_pipeline::connections::ConnectionSummary;
use rocescope_runtime::Signals;
use rocescope_runtime::status;
use rocescope_store::Query;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The rows of a source.
struct Found {
    connections: Vec<Connection>,
    events: Vec<EventRow>,
    summary: Option<ConnectionSummary>,
    /// The number of packets for each that the mirror delivers, as the dataset states.
    mirror_sampling: Option<u64>,
    /// Why the input ended early.
    error: Option<anyhow::Error>,
}

pub(super) fn run(arguments: &ConnectionsArguments) -> Result<ExitCode> {
    let files = files(&arguments.inputs, &arguments.read, &arguments.span)?;
    let (source, found) = if !files.is_empty() {
        of_files(files, arguments)?
    } else if let [path] = arguments.inputs.as_slice() {
        (path.display().to_string(), of_dataset(path, arguments)?)
    } else if !arguments.live.interfaces.is_empty() {
        of_interfaces(arguments)?
    } else {
        bail!("no input: set --interface or --read, or name a dataset")
    };
    let mut events = found.events;
    events.sort_by_key(|event| event.time_ns);
    let mut connections = found.connections;
    let stated = arguments.measure.mirror_sampling.or(found.mirror_sampling);
    let sampled_one_of = sampled(&connections, stated);
    if let Some(filter) = &arguments.filter {
        connections.retain(|connection| connection.matches(filter));
    }
    let hosts = arguments.hosts.names();
    let report = Report {
        hosts: &hosts,
        source: &source,
        connections: &connections,
        events: &events,
        summary: found.summary,
        sampled_one_of,
        max_rows: arguments.measure.top,
        width: terminal_width(),
    };
    crate::print(&match arguments.output {
        Format::Json => hosts.json(&json(&report)),
        Format::Table => text(&report, color::of_stdout()),
        format if has_owners(&connections) => rows::text(&owned(&connections), format, &hosts),
        format => rows::text(&owned(&connections).rows, format, &hosts),
    })?;
    match found.error {
        Some(error) => Err(error),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The number of packets for each that the tap has, if its mirror samples, as stated or as its gaps show.
fn sampled(connections: &[Connection], stated: Option<u64>) -> Option<u64> {
    let mut wire = Wire::default().sampling(stated);
    let directions = connections.iter().flat_map(Connection::directions);
    directions.for_each(|row| wire.connection(row));
    wire.find().sampled_one_of
}

impl Found {
    fn of(outcome: Outcome, error: Option<anyhow::Error>) -> Self {
        let mut kept = outcome.kept.unwrap_or_default();
        if kept.refused_directions + kept.refused_events > 0 {
            status!(
                "rocescope: warning: {} rows of connections and {} events found no room in memory; \
                 `rocescope capture --out DIR` stores all",
                kept.refused_directions,
                kept.refused_events
            );
        }
        kept.events.retain(is_of_a_connection);
        Self {
            connections: gather(kept.connections),
            events: kept.events,
            summary: outcome.connections,
            mirror_sampling: None,
            error,
        }
    }
}

/// Reads capture files; returns their names too.
fn of_files(paths: &[PathBuf], arguments: &ConnectionsArguments) -> Result<(String, Found)> {
    let signals = Signals::install()?;
    let mut files = input::open(paths, &signals)?;
    let progress = Progress::new(files.length(), arguments.quiet);
    let request = requests::connections(arguments)?.intake;
    let mut session = Session::open(&request, &Origin::files(&files), &notices())?;
    let ended = replay::replay(&mut files, &mut session, &signals, |at| progress.at(at));
    progress.done();
    for note in notes(files.files()) {
        status!("rocescope: {note}");
    }
    let error = match ended {
        Ok(()) => None,
        // Results from before the input error are still valid.
        Err(EngineError::File(error)) => Some(error.into()),
        Err(error) => return Err(error.into()),
    };
    Ok((files.name(), Found::of(session.finish()?, error)))
}

/// Captures until something ends it; returns the names of the interfaces too.
fn of_interfaces(arguments: &ConnectionsArguments) -> Result<(String, Found)> {
    let request = requests::connections(arguments)?;
    let capture = LiveCapture::open(request, Signals::install()?, reload(None)?, notices())?;
    let names = capture.origin().source.clone();
    let (report, outcome) = capture.run(None, None)?;
    outcome.check()?;
    let ended = report.check().err().map(anyhow::Error::from);
    Ok((names, Found::of(outcome, ended)))
}

/// Reads row by row and keeps one row of each direction: the dataset of a day has a row of each for every minute.
fn of_dataset(root: &Path, arguments: &ConnectionsArguments) -> Result<Found> {
    let time = span::range(&arguments.span)?;
    let later = time.extended(CONNECTIONS_NS);
    let tables = [ConnectionRow::TABLE, EventRow::TABLE];
    let found = Query::default().tables(&tables).within(later).open(root)?;
    let mut connections = Gathered::within(time);
    let rows = found.select::<ConnectionRow>().columns(|_| true);
    rows.for_each(|row| connections.add(row))?;
    let mut connections = connections.finish();
    if connections.is_empty() {
        let none = || {
            let unsealed = span::unsealed(&found);
            match unsealed.is_empty() {
                true => anyhow!(
                    "{} has no connections: captured with --no-connections, or the capture was killed before their first \
                     rows, which come a minute after its start",
                    root.display()
                ),
                false => anyhow!(
                    "{} has no connections yet: the first rows come a minute after the start of a capture{unsealed}",
                    root.display()
                ),
            }
        };
        return Err(span::nothing(root, &arguments.span)?.unwrap_or_else(none));
    }
    let directions = connections.iter().flat_map(Connection::directions);
    let known = owners::find(root, later, ends::asked(directions))?;
    name(&mut connections, &known);
    let mut events = Vec::new();
    let all = found.select::<EventRow>().within(time).columns(|_| true);
    all.for_each(|event| events.extend(Some(event).filter(is_of_a_connection)))?;
    for unreadable in found.damaged() {
        status!("rocescope: {}: {}", unreadable.path.display(), unreadable.reason);
    }
    Ok(Found {
        connections,
        events,
        summary: None,
        mirror_sampling: stated_sampling(&found),
        error: None,
    })
}

fn is_of_a_connection(event: &EventRow) -> bool {
    EventRow::OF_CONNECTIONS.contains(&&*event.kind)
}
