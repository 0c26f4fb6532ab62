//! `rocescope agent`: what the configuration asks for on a host, in one process: probes and paths if it has the table
//! `[probe]`, counters if it has `[counters]`. One spool and one connection carry all rows to the collector.
//!
//! | module | what it does |
//! |---|---|
//! | `counting` | reads counters in a thread |

mod counting;

use super::cost::Cost;
use super::counters;
use super::host_name::host_name;
use super::probe::Opened;
use super::relay::Relay;
use crate::arguments::AgentArguments;
use crate::status;
use anyhow::{Context, Result};
use counting::{Counting, Pace};
use rocescope_engine::resources::allow_most_files;
use rocescope_engine::service::Service;
use rocescope_engine::signals::Signals;
use rocescope_host::privileges;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Interval between two checks of the connection, where nothing is probed.
const TICK: Duration = Duration::from_secs(1);

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
            status!(
                "reading counters every {}",
                humantime::format_duration(counters.interval)
            );
            Some((reader, Pace::from(&**counters)))
        }
        None => None,
    };
    let probe = arguments.parts.probe.as_deref();
    let opened = probe.map(|probe| Ok((Opened::open(probe)?, probe)));
    let opened = opened
        .transpose()
        .map_err(|error: anyhow::Error| error.context("[probe]"))?;
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    let relay = Relay::open(&arguments.send, &observer)?;
    let mut relay = relay.context("an agent sends its rows: set --collector")?;
    let counting = reader.map(|(reader, pace)| Counting::start(reader, pace, relay.spooler()));
    let counting = counting.transpose()?;
    cost.shrink()?;
    let prober = match opened {
        Some((opened, probe)) => {
            let mut prober = opened.start(probe);
            prober.run(&signals, Some(&mut relay), &mut cost)?;
            Some(prober)
        }
        None => {
            wait(arguments, &signals, &mut relay, &cost)?;
            None
        }
    };
    if let Some(counting) = counting {
        status!("{}", counting.end()?);
    }
    status!("{}", relay.finish());
    if let Some(prober) = prober {
        prober.finish(arguments.output)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits for a signal or the end of the duration.
fn wait(arguments: &AgentArguments, signals: &Signals, relay: &mut Relay, cost: &Cost) -> Result<()> {
    let mut service = Service::default();
    let begun = Instant::now();
    let is_over = || arguments.duration.is_some_and(|duration| begun.elapsed() >= duration);
    while !signals.ended() && !is_over() {
        service.alive(Instant::now());
        signals.wait(TICK);
        cost.shrink()?;
        relay.report_changes();
    }
    Service::stopping();
    Ok(())
}
