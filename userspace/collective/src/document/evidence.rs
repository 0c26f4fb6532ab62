//! Pauses that hosts counted, and ECN marks.

use super::flows::FlowDocument;
use super::ms;
use crate::evidence::Evidence;
use alloc::format;
use alloc::string::{String, ToString};
use serde::Serialize;

/// What hosts and captures saw while the collective ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceDocument {
    /// `paused_by_host`, `paused_by_network` or `ecn_marks`.
    pub kind: &'static str,
    /// The host that counted; of marks the capture.
    pub observer: String,
    /// Port of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// How long, summed over priorities; null if the driver only counts frames.
    pub paused_ns: Option<i64>,
    /// Pause frames; null if the driver only counts the time.
    pub frames: Option<u64>,
    /// The flow whose packets were marked.
    pub flow: Option<FlowDocument>,
    /// Its packets in windows with marks.
    pub packets: Option<u64>,
    /// Those with marks.
    pub marked_packets: Option<u64>,
    /// The same in a sentence.
    pub text: String,
}

impl EvidenceDocument {
    pub(super) fn of(evidence: &Evidence) -> Self {
        match evidence {
            Evidence::Paused {
                host,
                port,
                addresses,
                is_by_host,
                paused_ns,
                frames,
                counted_ns,
            } => {
                let address = addresses
                    .first()
                    .map_or_else(String::new, |address| format!(" ({address})"));
                let how = match (paused_ns, frames) {
                    (Some(ns), _) => format!("for {}", ms(*ns)),
                    (None, Some(frames)) => format!("with {frames} frames"),
                    (None, None) => String::from("for an unknown time"),
                };
                let (kind, what) = match is_by_host {
                    true => ("paused_by_host", "paused its switch"),
                    false => ("paused_by_network", "was paused by its switch"),
                };
                Self {
                    kind,
                    observer: host.to_string(),
                    port: Some(port.to_string()),
                    paused_ns: *paused_ns,
                    frames: *frames,
                    flow: None,
                    packets: None,
                    marked_packets: None,
                    text: format!("{host} {port}{address} {what} {how} within {}.", ms(*counted_ns)),
                }
            }
            Evidence::Marked {
                flow,
                observer,
                packets,
                marked,
            } => {
                let flow = FlowDocument::of(flow);
                Self {
                    kind: "ecn_marks",
                    observer: observer.to_string(),
                    port: None,
                    paused_ns: None,
                    frames: None,
                    packets: Some(*packets),
                    marked_packets: Some(*marked),
                    text: format!(
                        "{marked} of {packets} packets of {} had ECN marks at {observer}: they met a queue before it.",
                        flow.text()
                    ),
                    flow: Some(flow),
                }
            }
        }
    }
}
