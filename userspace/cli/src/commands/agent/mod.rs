//! `rocescope agent`: what the configuration asks for on a host, in one process: probes and paths if it has the table
//! `[probe]`, counters if it has `[counters]`, loopback tests if it has `[hostping]`, steps of collectives if it has
//! `[collective]`. One spool and one connection carry all rows to the collector.
//!
//! | module | what it does |
//! |---|---|
//! | `counting` | reads counters in a thread |
//! | `following` | reads the files of jobs in a thread |
//! | `guide` | takes the controller's configuration |
//! | `testing` | runs loopback tests in a thread |
//! | `watching` | the monitor of collectives: asks about slow steps |

mod counting;
mod following;
mod guide;
mod testing;
mod watching;

use super::collective::follow::Following;
use super::counters;
use super::hostping::run::Tester;
use super::membership;
use super::probe::Opened;
use super::relay::Relay;
use crate::arguments::AgentArguments;
use crate::configuration::controlled::HELD;
use anyhow::{Context, Result};
use counting::{Counting, Pace};
use following::Reading;
use guide::Guide;
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
use testing::Testing;
use watching::Watching;

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
    let reader = match &arguments.parts.counters {
        Some(counters) => {
            // A counter is a file.
            allow_most_files();
            let reader = counters::reader(counters, &observer)?;
            let pace = Pace::from(&**counters);
            status!("{pace}");
            Some((reader, pace, counters::serve(counters, &observer)?))
        }
        None => None,
    };
    let probe = arguments.parts.probe.as_deref();
    let opened = probe.map(|probe| Ok((Opened::open(probe, arguments.flow_probes)?, probe)));
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
    let tester = arguments.parts.hostping.as_deref();
    let tester = tester.map(|hostping| Ok((Tester::open(hostping, &observer)?, hostping.clone())));
    let tester = tester
        .transpose()
        .map_err(|error: anyhow::Error| error.context("[hostping]"))?;
    let place = arguments
        .control_file
        .clone()
        .or_else(|| arguments.send.spool.as_ref().map(|spool| spool.join(HELD)));
    let member = membership::open(Role::Agent, &place.unwrap_or_default());
    let relay = Relay::open(&arguments.send, &observer, Some(Arc::clone(&member)))?;
    let mut relay = relay.context("an agent sends its rows: set --collector")?;
    let counting = reader.map(|(reader, pace, metrics)| {
        let name = observer.clone().into();
        Counting::start(reader, pace, relay.spooler(), metrics, name)
    });
    let counting = counting.transpose()?;
    let testing = tester.map(|(tester, arguments)| Testing::start(tester, arguments, relay.spooler()));
    let testing = testing.transpose()?;
    let (mut reading, mut watching) = (None, None);
    if let Some(collective) = arguments.parts.collective.as_deref() {
        let (thread, steps) = Reading::start(Following::new(collective, &observer), relay.spooler())?;
        reading = Some(thread);
        watching = Watching::open(collective, &observer, steps, relay.spooler()).context("[collective]")?;
    }
    let pace = counting.as_ref().map(Counting::pace);
    let mut guide = Guide::new(Arc::clone(&member), arguments, pace, watching);
    cost.shrink()?;
    let prober = match opened {
        Some((opened, probe)) => {
            let mut prober = opened.start(probe, Some(&member))?;
            prober.run(&signals, Some(&mut relay), &mut cost, Some(&mut guide))?;
            Some(prober)
        }
        None => {
            wait(arguments, &signals, &mut relay, &cost, &mut guide)?;
            None
        }
    };
    if let Some(watched) = guide.watched() {
        status!("{watched}");
    }
    // Its end ends the thread of the counters.
    drop(guide);
    if let Some(reading) = reading {
        status!("{}", reading.end()?);
    }
    if let Some(counting) = counting {
        status!("{}", counting.end()?);
    }
    if let Some(testing) = testing {
        status!("{}", testing.end()?);
    }
    status!("{}", relay.finish());
    if let Some(prober) = prober {
        prober.finish(arguments.output)?;
    }
    Ok(ExitCode::SUCCESS)
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
