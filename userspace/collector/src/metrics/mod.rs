//! The metrics of a collector: the status of its monitor, and what its analyses find, as `OpenMetrics`.
//!
//! Names and units come from the registry of the model: the column `probes` of `sla` is `rocescope_sla_probes_total`.
//! Members of a controller count by group, up to a bound.
//!
//! | module | what it does |
//! |---|---|
//! | [`diagnosed`] | totals over the windows of a mesh, and of hosts |
//! | [`owners`] | traffic by owner |
//! | [`controller`] | members of a controller |
//! | [`mod@page`] | all of it as a page |
//! | `help` | what each metric of the mesh counts |

pub mod controller;
pub mod diagnosed;
mod help;
pub mod owners;
pub mod page;

pub use diagnosed::Diagnosed;

use crate::control::message::{ControllerStatus, Standing};
use crate::server::{Monitor, Refusal};
use controller::ControllerMetrics;
use page::CollectorMetrics;
use std::fmt;

/// The page that a scrape returns; without a diagnosis, only the metrics of the collector itself.
///
/// # Errors
/// Those of [`page::page`].
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
    page::page(metrics, diagnosed, observer)
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
