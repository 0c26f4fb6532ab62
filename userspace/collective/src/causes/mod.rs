//! The roots: where a delay begins, and by which ports it reached the collective.
//!
//! A port that is paused waits for the ports of the next switch to which its traffic goes; the chain ends at the root. All
//! reports of a window count, in every mode.

mod paths;
mod pauses;
mod ports;

use crate::analysis::WINDOW_NS;
use crate::steps::FlowKey;
use crate::telemetry::{PortKey, Report};
use alloc::vec::Vec;
use ports::Ports;

/// What began a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Ports that pause each other in a circle.
    Deadlock,
    /// Pauses that no queue explains: they come from a host, or from a switch without a queue.
    PfcStorm,
    /// Many senders to one receiver.
    Incast,
    /// A queue elsewhere whose pauses spread.
    PfcBackpressure,
    /// Other flows in the queue of a flow of the collective.
    FlowContention,
    /// Of two ports to the same receivers, one has a queue and at least twice the packets of the other.
    LoadImbalance,
    /// A flow that returns to a switch.
    RoutingLoop,
}

impl Kind {
    /// Its name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::PfcStorm => "pfc_storm",
            Self::Incast => "incast",
            Self::PfcBackpressure => "pfc_backpressure",
            Self::FlowContention => "flow_contention",
            Self::LoadImbalance => "load_imbalance",
            Self::RoutingLoop => "routing_loop",
        }
    }
}

/// A root cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// What it is.
    pub kind: Kind,
    /// The port where it begins; of a storm, the one that is paused.
    pub port: PortKey,
    /// The port that sends the pauses of a storm, and whether it is one of a host: the other end of the link, if it is
    /// known.
    pub sender: Option<(PortKey, bool)>,
    /// Ports from the one that waits first to the root.
    pub path: Vec<PortKey>,
    /// Flows that cause it.
    pub flows: Vec<FlowKey>,
    /// Flows that it halts although they do not cross the root.
    pub victims: Vec<FlowKey>,
    /// Start of the first window with it.
    pub first_ns: i64,
    /// Start of the last window with it.
    pub last_ns: i64,
    /// Number of windows with it.
    pub windows: u64,
}

/// The causes in a window.
#[must_use]
pub fn in_window<'a>(
    start_ns: i64,
    reports: impl IntoIterator<Item = &'a Report>,
    is_collective: impl Fn(&FlowKey) -> bool,
) -> Vec<Cause> {
    let ports = Ports::new(reports);
    let mut causes = ports.deadlocks(start_ns);
    causes.extend(ports.imbalances(start_ns));
    causes.extend(ports.loops(start_ns));
    for (root, path) in ports.roots() {
        let kind = ports.kind(root);
        causes.push(match kind {
            Kind::PfcStorm => ports.storm(root, &path, start_ns),
            _ => ports.cause(kind, root, &path, ports.ports[root].waiting.clone(), start_ns),
        });
    }
    for at in 0..ports.ports.len() {
        let port = &ports.ports[at];
        if ports.is_paused_without_reason(at) && !port.has_previous {
            causes.push(ports.storm(at, &[at], start_ns));
        }
        let others: Vec<FlowKey> = port
            .waiting
            .iter()
            .filter(|flow| !is_collective(flow))
            .copied()
            .collect();
        if !others.is_empty() && port.waiting.iter().any(&is_collective) {
            causes.push(ports.cause(Kind::FlowContention, at, &[at], others, start_ns));
        }
    }
    causes
}

/// Merges the causes of all windows: one for each kind and port. What waits before the port that a storm pauses, while it lasts
/// or in the window beside it, is its effect and no root.
#[must_use]
pub fn merge(causes: Vec<Cause>) -> Vec<Cause> {
    let mut merged: Vec<Cause> = Vec::new();
    for cause in causes {
        let Some(known) = merged
            .iter_mut()
            .find(|known| known.kind == cause.kind && known.port == cause.port)
        else {
            merged.push(cause);
            continue;
        };
        known.windows += cause.windows;
        known.last_ns = cause.last_ns;
        known.sender = cause.sender.or(known.sender.take());
        if cause.path.len() > known.path.len() {
            known.path = cause.path;
        }
        for (list, more) in [(&mut known.flows, cause.flows), (&mut known.victims, cause.victims)] {
            for flow in more {
                if !list.contains(&flow) {
                    list.push(flow);
                }
            }
        }
    }
    let storms: Vec<(PortKey, i64, i64)> = merged
        .iter()
        .filter(|cause| cause.kind == Kind::PfcStorm)
        .map(|storm| {
            (
                storm.port.clone(),
                storm.first_ns - WINDOW_NS,
                storm.last_ns + WINDOW_NS,
            )
        })
        .collect();
    // A switch that sends pauses may not report in each window: there the port that it pauses looks like a root.
    merged.retain(|cause| {
        let is_queue = matches!(cause.kind, Kind::Incast | Kind::PfcBackpressure);
        !(is_queue
            && storms.iter().any(|(port, first_ns, last_ns)| {
                *port == cause.port && cause.first_ns >= *first_ns && cause.last_ns <= *last_ns
            }))
    });
    merged.sort_by(|a, b| {
        a.kind
            .cmp(&b.kind)
            .then(b.windows.cmp(&a.windows))
            .then_with(|| a.port.compare(&b.port))
    });
    merged
}

#[cfg(test)]
mod tests;
