//! `rocescope agent`: what the configuration asks for on a host, in one process: probes and paths if it has the table
//! `[probe]`, counters if it has `[counters]`, queue pairs if it has `[queue-pairs]`, loopback tests if it has
//! `[hostping]`, steps of collectives if it has `[collective]`. One spool and one connection carry all rows to the collector.
//!
//! | module | what it does |
//! |---|---|
//! | `guide` | takes the controller's configuration |
//! | `queue_pairs` | opens the part that follows queue pairs |

mod guide;
mod queue_pairs;

use super::counters;
use super::membership::Membership;
use super::probe;
use crate::arguments::{AgentArguments, CollectivePartArguments};
use crate::configuration::controlled::HELD;
use anyhow::{Context, Result};
use guide::Guide;
use rocescope_agent::collective::follow::Following;
use rocescope_agent::collective::{Collectives, Monitor, MonitorSettings};
use rocescope_agent::counters::{Counters, Pace, serve};
use rocescope_agent::hostping::Testing;
use rocescope_agent::probes::{Opened, ProbeSettings};
use rocescope_agent::relay::Relay;
use rocescope_agent::{Parts, Rows};
use rocescope_collector::control::message::Role;
use rocescope_host::privileges;
use rocescope_runtime::cost::Cost;
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::resources::{allow_locked_memory, allow_most_files};
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two checks of the connection, where nothing is probed.
const TICK: Duration = Duration::from_secs(1);
/// Interval between two checks for signals and the end of a window, there.
const STEP: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &AgentArguments) -> Result<ExitCode> {
    // First, because parsing the command line needs the most memory.
    let mut cost = Cost::new()?;
    let signals = Signals::install()?;
    let observer = match &arguments.observer {
        Some(observer) => observer.clone(),
        None => host_name()?,
    };
    let counters = counters(arguments, &observer)?;
    let queue_pairs = arguments.parts.queue_pairs.as_deref();
    let queue_pairs = queue_pairs.map(|queue_pairs| queue_pairs::open(queue_pairs, &observer));
    let settings = arguments.parts.probe.as_deref().map(ProbeSettings::from);
    let opened = settings
        .as_ref()
        .map(|probe| Ok((Opened::open(probe, arguments.flow_probes)?, probe)));
    let opened = opened
        .transpose()
        .map_err(|error: anyhow::Error| error.context("[probe]"))?;
    if arguments.parts.hostping.is_some() {
        // RDMA devices lock the memory of a test.
        allow_locked_memory();
    }
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    // The kernel refuses requests on an RDMA device that was opened with other capabilities.
    let hostping = arguments.parts.hostping.as_deref();
    let hostping = hostping.map(|hostping| Testing::open(&(&hostping.tests).into(), hostping.into(), &observer));
    let hostping = hostping.transpose().context("[hostping]")?;
    let place = arguments
        .control_file
        .clone()
        .or_else(|| arguments.send.spool.as_ref().map(|spool| spool.join(HELD)));
    let membership = Membership::open(Role::Agent, &place.unwrap_or_default());
    let member = Arc::clone(&membership.member);
    let relay = arguments.send.relay();
    let relay = relay.context("an agent sends its rows: set --collector")?;
    let mut relay = Relay::open(relay, &observer, Some(Arc::clone(&member)))?;
    let mut parts = Parts::default();
    let collective = arguments.parts.collective.as_deref();
    let monitor = collective.map(|collective| follow(collective, &observer, relay.rows(), &mut parts));
    let monitor = monitor.transpose().context("[collective]")?.flatten();
    if let Some(counters) = counters {
        parts.add(counters);
    }
    if let Some(queue_pairs) = queue_pairs {
        parts.add(queue_pairs);
    }
    if let Some(hostping) = hostping {
        parts.add(hostping);
    }
    parts.start(&relay.rows())?;
    let mut guide = Guide::new(membership, arguments.window, parts, monitor);
    cost.shrink()?;
    let prober = match opened {
        Some((opened, settings)) => {
            let mut prober = opened.start(settings, Some(&member))?;
            prober.run(&signals, Some(&mut relay), &mut cost, Some(&mut guide))?;
            Some(prober)
        }
        None => {
            wait(arguments, &signals, &mut relay, &cost, &mut guide)?;
            None
        }
    };
    guide.end()?;
    status!("{}", relay.finish());
    if let Some(prober) = prober {
        probe::finish(prober, arguments.output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the counters, if they are wanted.
fn counters(arguments: &AgentArguments, observer: &str) -> Result<Option<Counters>> {
    let Some(counters) = arguments.parts.counters.as_deref() else {
        return Ok(None);
    };
    // A counter is a file.
    allow_most_files();
    let reader = counters::reader(counters, observer)?;
    let pace = Pace::from(counters);
    status!("{pace}");
    let metrics = counters.metrics.map(|address| serve(address, observer));
    Ok(Some(Counters::open(reader, pace, metrics.transpose()?)))
}

/// Adds the part that follows the files of jobs; returns their monitor, if the ranks are known.
fn follow(
    arguments: &CollectivePartArguments,
    observer: &str,
    rows: Rows,
    parts: &mut Parts,
) -> Result<Option<Monitor>> {
    let following = Following::new(&arguments.steps, arguments.format.into(), observer);
    let (part, steps) = Collectives::open(following);
    parts.add(part);
    let ranks = arguments.ranks.as_ref();
    let settings = MonitorSettings::from(arguments);
    let monitor = ranks.map(|ranks| Monitor::open(&settings, ranks, observer, steps, rows));
    Ok(monitor.transpose()?)
}

/// Waits for a signal or the end of the duration.
fn wait(
    arguments: &AgentArguments,
    signals: &Signals,
    relay: &mut Relay,
    cost: &Cost,
    guide: &mut Guide,
) -> Result<()> {
    let mut service = Service::default();
    let begun = Instant::now();
    let mut ticked = begun;
    let is_over = || arguments.duration.is_some_and(|duration| begun.elapsed() >= duration);
    while !signals.ended() && !is_over() {
        service.alive(Instant::now());
        signals.wait(STEP);
        guide.take(None);
        if ticked.elapsed() >= TICK {
            ticked = Instant::now();
            cost.shrink()?;
            relay.report_changes();
        }
    }
    Service::stopping();
    Ok(())
}
