//! `rocescope collector run`: agents' rows over the network into one dataset.

use super::operate::checked;
use crate::arguments::CollectorRunArguments;
use crate::commands::serve::{self, Shown};
use crate::status::status_lines;
use anyhow::{Context, Result};
use rocescope_analysis::live;
use rocescope_analysis::pinglists::{Planner, Traces};
use rocescope_collector::metrics::Diagnosed;
use rocescope_collector::server::{ControlSettings, Settings, Status};
use rocescope_collector::{Files, Server};
use rocescope_model::{AGENT_TABLES, footer};
use rocescope_runtime::clock::now;
use rocescope_runtime::dataset::DatasetNotice;
use rocescope_runtime::metrics;
use rocescope_runtime::reserve::Reserve;
use rocescope_runtime::resources;
use rocescope_runtime::retention::Retention;
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use rocescope_store::{Options, Summary};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval between two checks of signals.
const POLL: Duration = Duration::from_millis(100);
/// Interval between two checks for old segments.
const RETAIN: Duration = Duration::from_secs(60);
/// Open files besides the connections of agents: handshakes, the dataset, scrapes.
const FILES: u64 = 512;

pub(super) fn run(arguments: &CollectorRunArguments) -> Result<ExitCode> {
    let signals = Signals::install()?;
    resources::allow_files(FILES.saturating_add(arguments.max_agents as u64)).context("--max-agents")?;
    let diagnosed = arguments.diagnose.then(Diagnosed::default);
    let analysis = diagnosed
        .as_ref()
        .map(|diagnosed| live::start(&analyses(arguments, diagnosed)));
    let retention = Arc::new(Mutex::new(arguments.retention.storage(&arguments.out).retention()));
    let settings = settings(arguments, Arc::clone(&retention))?;
    let traces = settings.control.as_ref().map(|_| Traces::resume(&arguments.out, now()));
    let (traces, analysis) = (traces.transpose()?, analysis.transpose()?);
    let server = match &traces {
        Some(traces) => Server::start(settings, Some(traces.beside(analysis)))?,
        None => Server::start(settings, analysis)?,
    };
    let planner = traces.map(|traces| Planner::start(server.monitor(), traces, Arc::new(now)));
    let _planner = planner.transpose().context("start threads")?;
    serve(arguments, &server, diagnosed)?;
    let _page = serve::page(
        &arguments.page,
        Shown {
            title: arguments.out.display().to_string(),
            dataset: Some(arguments.out.clone()),
            is_fed: false,
            names: Arc::default(),
            mirror_sampling: None,
        },
    )?;
    status!("collecting at {} into {}", server.address(), arguments.out.display());
    let mut service = Service::default();
    let begun = Instant::now();
    let (mut retained, mut reported) = (begun, (begun, server.status()));
    let is_over = || arguments.duration.is_some_and(|time| begun.elapsed() >= time);
    while !signals.ended() && !is_over() && !server.has_failed() {
        service.alive(Instant::now());
        std::thread::sleep(POLL);
        if retained.elapsed() >= RETAIN {
            retained = Instant::now();
            if let Err(error) = lock(&retention).apply() {
                status!("cannot delete old segments: {error}");
            }
            if let Some(error) = lock(&retention).take_fault() {
                status!(
                    "{}",
                    DatasetNotice::NotRolledUp {
                        reason: error.to_string()
                    }
                );
            }
        }
        let requested = signals.counts_requested();
        if requested || (!arguments.quiet && reported.0.elapsed() >= arguments.status) {
            let status = server.status();
            status!("{}", line(&status, &reported.1, reported.0.elapsed()));
            reported = (Instant::now(), status);
        }
    }
    Service::stopping();
    let last = server.status();
    let summary = server.stop()?;
    lock(&retention).apply()?;
    crate::print(&end(&last, &summary))?;
    Ok(ExitCode::SUCCESS)
}

/// Divides the length of windows: tests set it, so that windows take seconds.
const SCALE: &str = "COLLECT_TIME_SCALE";

fn scale() -> u16 {
    let factor = std::env::var(SCALE).ok().and_then(|factor| factor.parse().ok());
    factor.unwrap_or(1).max(1)
}

/// What the analyses of the collector need.
fn analyses(arguments: &CollectorRunArguments, diagnosed: &Diagnosed) -> live::Settings {
    live::Settings {
        dataset: arguments.out.clone(),
        observer: arguments.observer.clone().into(),
        lateness: arguments.lateness,
        segment_age: arguments.retention.segment_age,
        topology: arguments.topology.clone(),
        scale: scale(),
        quiet: arguments.quiet,
        clock: Arc::new(now),
        notices: status_lines(),
        diagnosed: diagnosed.clone(),
        on_incident: arguments.on_incident.clone(),
    }
}

/// Starts the metrics endpoint, if requested.
fn serve(arguments: &CollectorRunArguments, server: &Server, diagnosed: Option<Diagnosed>) -> Result<()> {
    let Some(address) = arguments.metrics else {
        return Ok(());
    };
    let (monitor, observer) = (server.monitor(), arguments.observer.clone());
    let page = move || rocescope_collector::metrics::page(&monitor, diagnosed.as_ref(), &observer);
    let bound = metrics::serve(address, Arc::new(page))?;
    status!("metrics at http://{bound}/metrics");
    Ok(())
}

/// No step of the retention leaves it in a state that another thread must not see.
fn lock(retention: &Mutex<Retention>) -> MutexGuard<'_, Retention> {
    retention.lock().unwrap_or_else(PoisonError::into_inner)
}

fn settings(arguments: &CollectorRunArguments, retention: Arc<Mutex<Retention>>) -> Result<Settings> {
    let files = Files {
        certificate: arguments.cert.clone(),
        key: arguments.key.clone(),
        authority: arguments.client_ca.clone(),
    };
    let mut settings = Settings::new(arguments.listen, files, arguments.out.clone());
    settings.options = Options {
        metadata: vec![
            (footer::SOURCE.into(), arguments.listen.to_string()),
            (footer::MODE.into(), "collect".into()),
        ],
        tables: AGENT_TABLES,
        max_age: arguments.retention.segment_age,
        ..Options::new(&*arguments.observer)
    };
    settings.sync = !arguments.no_sync;
    settings.max_agents = arguments.max_agents;
    settings.queue_bytes = usize::try_from(arguments.max_waiting).context("--max-waiting")?;
    settings.status = Arc::new(|line| status!("{line}"));
    settings.control = control(arguments)?;
    let reserve = Reserve::new(&arguments.out, arguments.retention.keep_free);
    settings.make_room = Arc::new(move || lock(&retention).make_room(&reserve));
    Ok(settings)
}

/// The controller, if the collector is to be one.
fn control(arguments: &CollectorRunArguments) -> Result<Option<ControlSettings>> {
    let Some(directory) = &arguments.control_dir else {
        return Ok(None);
    };
    let directory = directory.clone();
    let first = match arguments.control.as_deref().map(checked).transpose() {
        Err(error) if ControlSettings::has_version(&directory) => {
            // The file is only compared, and members need their controller.
            status!("{error:#}: the version in force stays");
            None
        }
        checked => checked?,
    };
    Ok(Some(ControlSettings { directory, first }))
}

/// The status line: what happened since the last one.
fn line(now: &Status, before: &Status, span: Duration) -> String {
    let rows = now.counts.rows - before.counts.rows;
    let silent = now.agents.iter().filter(|agent| {
        let last = agent.last.unwrap_or(agent.since);
        last.elapsed() > span
    });
    let silent: Vec<&str> = silent.map(|agent| agent.name.as_str()).take(5).collect();
    let mut line = format!(
        "{} agents, {rows} rows in {:.0} s, {} in total",
        now.agents.len(),
        span.as_secs_f64(),
        now.counts.rows
    );
    if !silent.is_empty() {
        line += &format!("; no rows from {}", silent.join(", "));
    }
    let failed = now.counts.failed_parcels - before.counts.failed_parcels;
    if failed > 0 {
        line += &format!("; {failed} batches could not be stored, agents will retransmit them");
    }
    line + &refusals(now)
}

fn refusals(status: &Status) -> String {
    if status.refusals.is_empty() {
        return String::new();
    }
    let counts = status.refusals.iter();
    let counts: Vec<String> = counts
        .map(|(refusal, count)| format!("{} {count}", refusal.name()))
        .collect();
    format!("; refused: {}", counts.join(", "))
}

fn end(status: &Status, summary: &Summary) -> String {
    let segments: u64 = summary.tables.iter().map(|table| table.segments).sum();
    let mut text = format!(
        "{} rows in {} batches stored, {} duplicate batches, {segments} segments sealed{}\n",
        status.counts.rows,
        status.counts.parcels,
        status.counts.known_parcels,
        refusals(status)
    );
    if status.counts.lost_analysis_rows > 0 {
        text += &format!(
            "{} rows of the diagnosis could not be stored\n",
            status.counts.lost_analysis_rows
        );
    }
    text
}
