//! The metrics of a collector: the status of its monitor, for the engine's endpoint.

use rocescope_collector::control::message::{ControllerStatus, Standing};
use rocescope_collector::server::{Monitor, Refusal};
use rocescope_engine::metrics::Diagnosed;
use rocescope_engine::metrics::collector::{self, CollectorMetrics};
use rocescope_engine::metrics::controller::ControllerMetrics;
use std::fmt;

/// The page that a scrape returns; without a diagnosis, only the metrics of the collector itself.
///
/// # Errors
/// Those of [`collector::page`].
pub fn page(monitor: &Monitor, diagnosed: Option<&Diagnosed>, observer: &str) -> Result<String, fmt::Error> {
    let status = monitor.status();
    let count = |reason: Refusal| {
        let mut met = status.refusals.iter().filter(|(met, _)| *met == reason);
        met.next().map_or(0, |(_, count)| *count)
    };
    let refusals = Refusal::ALL.iter();
    let metrics = CollectorMetrics {
        agents: status.agents.len(),
        storing_stopped: status.storing_stopped,
        counts: status.counts.named().collect(),
        refusals: refusals.map(|reason| (reason.name(), count(*reason))).collect(),
        controller: monitor.controller().as_ref().map(controller),
    };
    collector::page(metrics, diagnosed, observer)
}

fn controller(status: &ControllerStatus) -> ControllerMetrics {
    let standings = Standing::ALL.map(Standing::name);
    let mut metrics = ControllerMetrics::new(status.version, standings, status.dropped.reasons());
    for member in &status.members {
        let standing = member.standing(status.version).name();
        let running = member.connected.then_some(member.state.running);
        metrics.add(member.group.as_deref(), standing, running);
    }
    metrics
}
