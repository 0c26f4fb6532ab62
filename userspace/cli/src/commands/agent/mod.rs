//! `rocescope agent`: what the configuration asks for on a host, in one process: probes and paths if it has the table
//! `[probe]`, counters if it has `[counters]`. One spool and one connection carry all rows to the collector.
//!
//! | module | what it does |
//! |---|---|
//! | `counting` | reads counters in a thread |
//! | `guide` | takes the controller's configuration |

mod counting;
mod guide;

use super::cost::Cost;
use super::counters;
use super::host_name::host_name;
use super::membership;
use super::probe::Opened;
use super::relay::Relay;
use crate::arguments::AgentArguments;
use crate::configuration::controlled::HELD;
use crate::status;
use anyhow::{Context, Result};
use counting::{Counting, Pace};
use guide::Guide;
use rocescope_collector::control::message::Role;
use rocescope_engine::resources::allow_most_files;
use rocescope_engine::service::Service;
use rocescope_engine::signals::Signals;
use rocescope_host::privileges;
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
    let opened = probe.map(|probe| Ok((Opened::open(probe, arguments.flow_probes)?, probe)));
    let opened = opened
        .transpose()
        .map_err(|error: anyhow::Error| error.context("[probe]"))?;
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    let place = arguments
        .control_file
        .clone()
        .or_else(|| arguments.send.spool.as_ref().map(|spool| spool.join(HELD)));
    let member = membership::open(Role::Agent, &place.unwrap_or_default());
    let relay = Relay::open(&arguments.send, &observer, Some(Arc::clone(&member)))?;
    let mut relay = relay.context("an agent sends its rows: set --collector")?;
    let counting = reader.map(|(reader, pace)| Counting::start(reader, pace, relay.spooler()));
    let counting = counting.transpose()?;
    let mut guide = Guide::new(member, arguments, counting.as_ref().map(Counting::pace));
    cost.shrink()?;
    let prober = match opened {
        Some((opened, probe)) => {
            let mut prober = opened.start(probe);
            prober.run(&signals, Some(&mut relay), &mut cost, Some(&mut guide))?;
            Some(prober)
        }
        None => {
            wait(arguments, &signals, &mut relay, &cost, &mut guide)?;
            None
        }
    };
    // Its end ends the thread of the counters.
    drop(guide);
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
