//! `rocescope probe`: the agent of a host.
//!
//! | module | what it does |
//! |---|---|
//! | `open` | NICs, port and privileges: everything that can be refused |
//! | `outlet` | rows to the dataset |
//! | `relay` | rows to a collector |
//! | `window` | a line a window |
//! | `cost` | what the agent takes |
//! | `summary` | what is said at the end |

mod cost;
mod open;
mod outlet;
mod relay;
mod summary;
mod window;

use crate::arguments::{Output, ProbeArguments};
use crate::say;
use anyhow::{Context, Result, ensure};
use cost::Cost;
use outlet::Outlet;
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

/// How often the own cost is looked at.
const TICK: Nanos = Nanos::SECOND;
/// How often rows are written and sent, where a line does not say more often what they show. Each time takes
/// code of Parquet or TLS that is not in memory in between; a collector waits 10 s for the rows of a window.
const HAND_OVER: Duration = Duration::from_secs(5);

pub(super) fn run(arguments: &ProbeArguments) -> Result<ExitCode> {
    // Before anything else is needed: the command line takes the most of all.
    let mut cost = Cost::new()?;
    let signals = Signals::install()?;
    let (mut backend, settings) = open::open(arguments)?;
    let outlet = Outlet::open(arguments, &settings, &*backend)?;
    // From here on this process can do no more than any other; what it needs it holds open.
    privileges::drop_all().context("capabilities")?;
    let mut sinks = Sinks {
        outlet,
        relay: Relay::open(&arguments.send, &settings.observer)?,
        window: Window::new(arguments.window, backend.now()),
    };
    let begun = Instant::now();
    let mut agent = Agent::new(settings, backend.nics(), backend.clock(), backend.now());
    cost.shrink()?;
    probe(
        arguments,
        &signals,
        &mut agent,
        &mut *backend,
        &mut sinks,
        &mut cost,
    )?;
    if let Some(relay) = sinks.relay {
        say!("{}", relay.finish());
    }
    let dropped = backend.dropped();
    let summary = Summary {
        counters: agent.counters(),
        nics: backend.nics(),
        paths: agent.paths(),
        last_refusal: agent.last_refusal(),
        dropped,
        seconds: begun.elapsed().as_secs_f64(),
        store: sinks.outlet.finish()?,
    };
    crate::print(&match arguments.output {
        Output::Table => summary.text(),
        Output::Json => summary.json(),
    })?;
    ensure!(
        summary.counters.is_balanced() && summary.counters.in_flight == 0,
        "the probes do not add up: this is a defect, please report it"
    );
    if let Some(refused) = summary
        .store
        .as_ref()
        .and_then(|store| store.refused.as_ref())
    {
        anyhow::bail!("the dataset: {refused}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Who takes the rows of the agent.
struct Sinks {
    outlet: Outlet,
    relay: Option<Relay>,
    window: Window,
}

impl Sinks {
    /// Hands over what has come together.
    fn take(&mut self, agent: &mut Agent) -> Result<()> {
        let (probes, paths) = agent.rows();
        self.window.take(probes);
        self.outlet.append(probes, paths)?;
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

/// Probes until a signal or the end of the time, and until all that is under way has come to its end.
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
        let is_over = arguments
            .duration
            .is_some_and(|time| begun.elapsed() >= time);
        if !is_stopping && (signals.ended() || is_over) {
            is_stopping = true;
            Service::stopping();
            agent.stop();
        }
        let now = backend.now();
        // The clock may have been set, either way.
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
                say!("{}", presence_of(nic, presence));
            }
            if let Some(relay) = &mut sinks.relay {
                relay.look();
            }
            if let Some(line) = sinks.window.line(now, agent)
                && !arguments.quiet
            {
                say!("{line}");
            }
            tick = if tick + TICK > now {
                tick + TICK
            } else {
                now + TICK
            };
            tick = tick.min(now + TICK);
        }
    }
}

fn presence_of(nic: &Nic, presence: Presence) -> String {
    match presence {
        Presence::Gone => format!(
            "{} is gone: until there is an interface of that name again, its probes count as unsent",
            nic.name
        ),
        Presence::Back => format!("{} is there again, at {}", nic.name, nic.address),
    }
}
