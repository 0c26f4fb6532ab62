//! `rocescope probe`: the agent of a host.
//!
//! | module | what it does |
//! |---|---|
//! | `open` | opens NICs, port and privileges: everything that can be refused |
//! | `outputs` | writes rows to the dataset |
//! | `relay` | sends rows to a collector |
//! | `window` | the status line of a window |
//! | `summary` | the summary at the end |

mod open;
mod outputs;
mod relay;
mod summary;
mod window;

use super::cost::Cost;
use crate::arguments::{Output, ProbeArguments};
use crate::status;
use anyhow::{Context, Result, ensure};
use outputs::ProbeOutputs;
use relay::Relay;
use rocescope_engine::service::Service;
use rocescope_engine::signals::Signals;
use rocescope_host::privileges;
use rocescope_probe::types::Presence;
use rocescope_probe::{Agent, Backend, Nanos, Nic, drive};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use summary::Summary;
use window::Window;

/// Interval between two measurements of the own cost.
const TICK: Nanos = Nanos::SECOND;
/// Maximum interval between two writes of rows. Each write loads code of Parquet or TLS that is released in
/// between; a collector waits 10 s for the rows of a window.
const HAND_OVER: Duration = Duration::from_secs(5);

pub(super) fn run(arguments: &ProbeArguments) -> Result<ExitCode> {
    // First, because parsing the command line needs the most memory.
    let mut cost = Cost::new()?;
    let signals = Signals::install()?;
    let (mut backend, settings) = open::open(arguments)?;
    let outputs = ProbeOutputs::open(arguments, &settings, &*backend)?;
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    let mut sinks = Sinks {
        outputs,
        relay: Relay::open(&arguments.send, &settings.observer)?,
        window: Window::new(arguments.window, backend.now()),
    };
    let begun = Instant::now();
    let mut agent = Agent::new(settings, backend.nics(), backend.clock(), backend.now());
    cost.shrink()?;
    probe(arguments, &signals, &mut agent, &mut *backend, &mut sinks, &mut cost)?;
    if let Some(relay) = sinks.relay {
        status!("{}", relay.finish());
    }
    let dropped = backend.dropped();
    let summary = Summary {
        counters: agent.counters(),
        nics: backend.nics(),
        paths: agent.paths(),
        last_refusal: agent.last_refusal(),
        dropped,
        seconds: begun.elapsed().as_secs_f64(),
        store: sinks.outputs.finish()?,
    };
    crate::print(&match arguments.output {
        Output::Table => summary.text(),
        Output::Json => summary.json(),
    })?;
    ensure!(
        summary.counters.is_balanced() && summary.counters.in_flight == 0,
        "the probe counters are inconsistent: this is a defect, please report it"
    );
    let lost = summary.store.as_ref().map_or(0, |store| store.lost);
    ensure!(lost == 0, "the disk was full: {lost} rows were not written");
    Ok(ExitCode::SUCCESS)
}

/// Where the rows of the agent go.
struct Sinks {
    outputs: ProbeOutputs,
    relay: Option<Relay>,
    window: Window,
}

impl Sinks {
    /// Passes on the rows since the last call.
    fn take(&mut self, agent: &mut Agent) -> Result<()> {
        let (probes, paths) = agent.rows();
        self.window.take(probes);
        self.outputs.append(probes, paths)?;
        if let Some(relay) = &mut self.relay {
            // Paths first, as in the dataset.
            relay.append(paths);
            relay.append(probes);
        }
        probes.clear();
        paths.clear();
        Ok(())
    }
}

/// Probes until a signal or the end of the duration, then until no probe is in flight.
fn probe(
    arguments: &ProbeArguments,
    signals: &Signals,
    agent: &mut Agent,
    backend: &mut dyn Backend,
    sinks: &mut Sinks,
    cost: &mut Cost,
) -> Result<()> {
    let begun = Instant::now();
    let mut events = Vec::new();
    let mut service = Service::default();
    let mut tick = backend.now() + TICK;
    let mut handed_over = begun;
    let mut is_stopping = false;
    loop {
        service.alive(Instant::now());
        let is_done = drive(agent, backend, tick, &mut events)?;
        let is_over = arguments.duration.is_some_and(|time| begun.elapsed() >= time);
        if !is_stopping && (signals.ended() || is_over) {
            is_stopping = true;
            Service::stopping();
            agent.stop();
        }
        let now = backend.now();
        // The clock may have been set forwards or backwards.
        let is_due = now >= tick || now + TICK + TICK < tick;
        let is_wanted = || sinks.window.is_over(now) || handed_over.elapsed() >= HAND_OVER;
        if is_done || (is_due && is_wanted()) {
            handed_over = Instant::now();
            sinks.take(agent)?;
        }
        if is_done {
            return Ok(());
        }
        if is_due {
            agent.update_throttle(cost.share());
            cost.shrink()?;
            for (nic, presence) in agent.presences() {
                status!("{}", presence_of(nic, presence));
            }
            if let Some(relay) = &mut sinks.relay {
                relay.report_changes();
            }
            if let Some(line) = sinks.window.line(now, agent)
                && !arguments.quiet
            {
                status!("{line}");
            }
            tick = if tick + TICK > now { tick + TICK } else { now + TICK };
            tick = tick.min(now + TICK);
        }
    }
}

fn presence_of(nic: &Nic, presence: Presence) -> String {
    match presence {
        Presence::Gone => format!(
            "{} disappeared: its probes count as unsent until an interface of that name exists",
            nic.name
        ),
        Presence::Back => format!("{} is back, at {}", nic.name, nic.address),
    }
}
