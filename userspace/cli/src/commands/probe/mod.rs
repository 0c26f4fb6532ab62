//! `rocescope probe`: the agent of a host.
//!
//! | module | what it does |
//! |---|---|
//! | `open` | NICs, port and privileges: everything that can be refused |
//! | `outlet` | rows to the dataset |
//! | `relay` | rows to a collector |
//! | `window` | a line a window |
//! | `summary` | what is said at the end |

mod open;
mod outlet;
mod relay;
mod summary;
mod window;

use crate::arguments::{Output, ProbeArguments};
use crate::resources;
use crate::say;
use crate::signals::Signals;
use anyhow::{Context, Result, ensure};
use outlet::Outlet;
use relay::Relay;
use rocescope_capture::privileges;
use rocescope_probe::{Agent, Backend, Nanos, drive};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use summary::Summary;
use window::Window;

/// How often rows are written and the own cost is looked at.
const TICK: Nanos = Nanos::SECOND;
/// With more in memory, what was needed once is given back: to start, to seal a segment. No more often
/// than this.
const RESIDENT: u64 = 6 << 20;
const RELEASE: Duration = Duration::from_secs(5);

pub(super) fn run(arguments: &ProbeArguments) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let (mut backend, settings) = open::open(arguments)?;
    let mut outlet = Outlet::open(arguments, &settings, &*backend)?;
    // From here on this process can do no more than any other; what it needs it holds open.
    privileges::drop_all().context("capabilities")?;
    let mut relay = Relay::open(&arguments.send, &settings.observer)?;
    let begun = Instant::now();
    let mut agent = Agent::new(settings, backend.nics(), backend.clock(), backend.now());
    let mut sinks = (&mut outlet, relay.as_mut());
    probe(arguments, &signals, &mut agent, &mut *backend, &mut sinks)?;
    if let Some(relay) = relay {
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
        store: outlet.finish()?,
    };
    super::print(&match arguments.output {
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

/// Probes until a signal or the end of the time, and until all that is under way has come to its end.
fn probe(
    arguments: &ProbeArguments,
    signals: &Signals,
    agent: &mut Agent,
    backend: &mut dyn Backend,
    (outlet, relay): &mut (&mut Outlet, Option<&mut Relay>),
) -> Result<()> {
    let begun = Instant::now();
    let mut events = Vec::new();
    let mut window = Window::new(arguments.window, backend.now());
    let mut cost = (begun, resources::processor_seconds());
    let mut tick = backend.now() + TICK;
    let mut released = begun;
    resources::release_unused().context("memory")?;
    let mut is_stopping = false;
    loop {
        let is_done = drive(agent, backend, tick, &mut events)?;
        let is_over = arguments
            .duration
            .is_some_and(|time| begun.elapsed() >= time);
        if !is_stopping && (signals.ended() || is_over) {
            is_stopping = true;
            agent.stop();
        }
        let now = backend.now();
        // The clock may have been set, either way.
        let is_due = now >= tick || now + TICK + TICK < tick;
        if is_due || is_done {
            let (probes, paths) = agent.rows();
            window.take(probes);
            outlet.append(probes, paths)?;
            if let Some(relay) = relay {
                // Paths first, as in the dataset.
                relay.append(paths);
                relay.append(probes);
                relay.look();
            }
            probes.clear();
            paths.clear();
        }
        if is_done {
            return Ok(());
        }
        if is_due {
            let spent = resources::processor_seconds();
            let share = (spent - cost.1) / cost.0.elapsed().as_secs_f64().max(1e-3);
            cost = (Instant::now(), spent);
            agent.look(share);
            let is_large = || resources::resident_bytes().is_some_and(|bytes| bytes > RESIDENT);
            if released.elapsed() >= RELEASE && is_large() {
                released = Instant::now();
                resources::release_unused().context("memory")?;
            }
            if let Some(line) = window.line(now, agent)
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
