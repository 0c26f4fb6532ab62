//! Root causes.

use super::flows::{FlowDocument, names};
use super::provenance::PortDocument;
use crate::causes::{Cause, Kind};
use crate::steps::FlowKey;
use crate::telemetry::PortKey;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// A root cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseDocument {
    /// What it is.
    pub kind: &'static str,
    /// The switch where it begins.
    pub switch: String,
    /// The port there.
    pub port: String,
    /// The port that sends the pauses of a storm, if the other end of the link is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<PortDocument>,
    /// Ports from the one that waits first to the root; the circle of a deadlock from its fullest port on.
    pub path: Vec<PortDocument>,
    /// Flows that cause it.
    pub flows: Vec<FlowDocument>,
    /// Flows that it halts although they do not cross the root.
    pub victims: Vec<FlowDocument>,
    /// Start of the first window with it.
    pub first_ns: i64,
    /// Start of the last window with it.
    pub last_ns: i64,
    /// Number of windows with it.
    pub windows: u64,
    /// What happened and what to do, in a sentence.
    pub text: String,
}

impl CauseDocument {
    pub(super) fn of(cause: &Cause) -> Self {
        let all = |list: &[FlowKey]| list.iter().map(FlowDocument::of).collect::<Vec<_>>();
        let (found, victims) = (all(&cause.flows), all(&cause.victims));
        let place = format!("switch {}, port {}", cause.port.switch, cause.port.port);
        let mut path: Vec<String> = cause
            .path
            .iter()
            .map(|port| format!("{}:{}", port.switch, port.port))
            .collect();
        let mut text = match cause.kind {
            Kind::Deadlock => {
                path.extend(path.first().cloned());
                format!(
                    "deadlock: ports pause each other in a circle, {}; break it by a restart of one of these ports, then make \
                     the routes free of circles",
                    path.join(" > ")
                )
            }
            Kind::PfcStorm => storm(&place, cause.sender.as_ref()),
            Kind::Incast => format!("incast at {place}: {}; spread these transfers in time", names(&found)),
            Kind::PfcBackpressure => format!("PFC backpressure from {place}, whose queue holds {}", names(&found)),
            Kind::FlowContention => format!("flow contention at {place} with {}", names(&found)),
            Kind::LoadImbalance => format!(
                "load imbalance: {place} has a queue, and a port beside it to the same receiver has at most half its packets; \
                 move one of {}",
                names(&found)
            ),
            Kind::RoutingLoop => {
                path.extend(path.first().cloned());
                format!(
                    "routing loop: {} returns along {}; correct the routes",
                    names(&found),
                    path.join(" > ")
                )
            }
        };
        if matches!(cause.kind, Kind::PfcStorm | Kind::Incast | Kind::PfcBackpressure) && path.len() > 1 {
            text.push_str(&format!("; pauses spread along {}", path.join(" > ")));
        }
        if !victims.is_empty() {
            text.push_str(&format!("; it also halts {}", names(&victims)));
        }
        Self {
            kind: cause.kind.name(),
            switch: cause.port.switch.to_string(),
            port: cause.port.port.to_string(),
            sender: cause.sender.as_ref().map(|(port, _)| PortDocument::of(port)),
            path: cause.path.iter().map(PortDocument::of).collect(),
            flows: found,
            victims,
            first_ns: cause.first_ns,
            last_ns: cause.last_ns,
            windows: cause.windows,
            text,
        }
    }
}

/// A storm: who sends pauses to whom, and where to look.
fn storm(paused: &str, sender: Option<&(PortKey, bool)>) -> String {
    match sender {
        Some((PortKey { switch: node, port }, true)) => format!(
            "PFC storm: host {node}, port {port} sends pauses to {paused}, and no queue explains them; look at this NIC: its \
             receive buffers, its PCIe link, its firmware"
        ),
        Some((PortKey { switch: node, port }, false)) => format!(
            "PFC storm: switch {node}, port {port} sends pauses to {paused}, and nothing beyond it has a queue; look at this \
             port: its PFC thresholds and its watchdog"
        ),
        None => format!(
            "PFC storm: {paused} is paused and nothing beyond it has a queue; look at the NIC or the port at the other end of \
             its link"
        ),
    }
}
