//! `rocescope connections`: what each queue pair did.

use crate::arguments::{CaptureArguments, ConnectionsArguments, Output};
use crate::commands::live;
use crate::intake::Outlet;
use crate::output::connections::{Report, gather, json, text};
use crate::progress::Progress;
use crate::session::Session;
use crate::signals::Signals;
use anyhow::{Context, Result, bail};
use rocescope_capture::file::{FileError, FrameReader};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::{ConnectionSettings, ConnectionSummary};
use rocescope_record::Config;
use std::path::Path;
use std::process::ExitCode;

/// Where the rows come from, and what came with them.
struct Found {
    connections: Vec<ConnectionRow>,
    events: Vec<EventRow>,
    summary: Option<ConnectionSummary>,
    /// Why the input ended early.
    error: Option<anyhow::Error>,
}

/// Events that tell of connections, not of windows.
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
        _ => bail!("name a capture file with --read, an interface with --interface, or a dataset"),
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
        most: arguments.measure.top,
    };
    super::print(&match arguments.output {
        Output::Json => json(&report),
        Output::Table => text(&report),
    })?;
    match found.error {
        Some(error) => Err(error).with_context(|| source),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn of_file(path: &Path, arguments: &ConnectionsArguments) -> Result<Found> {
    let signals = Signals::install()?;
    let input = super::capture::open(path, &signals).with_context(|| path.display().to_string())?;
    let progress = Progress::new(input.length, arguments.quiet);
    let mut reader = FrameReader::new(input).with_context(|| path.display().to_string())?;
    let settings = Settings {
        connections: Some(ConnectionSettings::default()),
        ..super::capture::settings(&arguments.measure, false)
    };
    let mut config = Config::exact(settings.window_ns);
    config.udp_ports = super::capture::ports(&arguments.udp_ports)?;
    let mut session = Session::new(settings, config, None)?;
    session.keep_connections();
    let ended = super::capture::drive(&mut reader, &mut session, &progress, &signals);
    progress.done();
    let error = match ended {
        Ok(()) => None,
        // What was seen before the input broke is worth as much as ever.
        Err(error) if error.is::<FileError>() => Some(error),
        Err(error) => return Err(error),
    };
    let outcome = session.finish()?;
    let (connections, events) = outcome.kept.unwrap_or_default();
    Ok(Found {
        connections,
        events,
        summary: outcome.connections,
        error,
    })
}

/// What `capture` would be given for it, and what that means.
pub(super) fn wanted(arguments: &ConnectionsArguments) -> (CaptureArguments, Settings) {
    let ConnectionsArguments {
        live: chosen,
        measure,
        udp_ports,
        ..
    } = arguments;
    let wanted = live::arguments(chosen, measure, udp_ports, true);
    let settings = super::capture::chosen(&wanted);
    (wanted, settings)
}

/// What passes the interfaces until something ends it; and their names.
fn of_interfaces(arguments: &ConnectionsArguments) -> Result<(String, Found)> {
    let (wanted, settings) = wanted(arguments);
    let begun = live::Begun::new(&wanted, Signals::install()?, &settings)?;
    let names = begun.origin.source.clone();
    let outlet = Outlet::default()
        .keeping_connections()
        .with_tap(live::metrics(&wanted, &begun)?);
    let (_, outcome) = begun.drive(&wanted, settings, outlet)?;
    super::capture::verdict(&outcome)?;
    let (connections, events) = outcome.kept.unwrap_or_default();
    let found = Found {
        connections,
        events,
        summary: outcome.connections,
        error: None,
    };
    Ok((names, found))
}

fn of_dataset(root: &Path) -> Result<Found> {
    let found = rocescope_store::open(root)?;
    for unreadable in &found.unreadable {
        eprintln!(
            "rocescope: {}: {}",
            unreadable.path.display(),
            unreadable.reason
        );
    }
    Ok(Found {
        connections: found.rows::<ConnectionRow>()?,
        events: found.rows::<EventRow>()?,
        summary: None,
        error: None,
    })
}
