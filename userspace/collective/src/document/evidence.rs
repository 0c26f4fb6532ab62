//! Pauses that hosts counted, ECN marks, and paths that probes found slow.

use super::flows::FlowDocument;
use super::ms;
use crate::evidence::Evidence;
use crate::steps::FlowKey;
use crate::telemetry::{Burst, SlowPath};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::Text;
use serde::Serialize;

/// What hosts and captures saw while the collective ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceDocument {
    /// `paused_by_host`, `paused_by_network`, `ecn_marks` or `slow_path`.
    pub kind: &'static str,
    /// The host that counted; of marks the capture; of slow paths the agent.
    pub observer: String,
    /// Port of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// How long, summed over priorities; null if the driver only counts frames.
    pub paused_ns: Option<i64>,
    /// Pause frames; null if the driver only counts the time.
    pub frames: Option<u64>,
    /// The flow whose packets were marked; of a slow path, that of the probes.
    pub flow: Option<FlowDocument>,
    /// Its packets in windows with marks.
    pub packets: Option<u64>,
    /// Those with marks.
    pub marked_packets: Option<u64>,
    /// What probes along the path found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<SlowDocument>,
    /// The same in a sentence.
    pub text: String,
}

/// Probes along the path of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlowDocument {
    /// The host that sends.
    pub host: String,
    /// The host that receives.
    pub dst_host: String,
    /// The step with the longest round trip.
    pub step: u32,
    /// That round trip, or the age of the oldest probe without an answer.
    pub round_trip_ns: i64,
    /// Whether probes were not answered.
    pub overdue: bool,
    /// Round trip with empty queues.
    pub base_round_trip_ns: i64,
    /// How often it was found.
    pub detections: u64,
    /// Probes in bursts that followed.
    pub burst_probes: u64,
    /// Those that were answered.
    pub burst_answered: u64,
    /// The longest of their round trips.
    pub burst_max_round_trip_ns: Option<i64>,
    /// The capture boxes that recorded the flow.
    pub recorded_by: Vec<String>,
}

impl SlowDocument {
    fn of(worst: &SlowPath, detections: u64, bursts: Option<&Burst>, recorded_by: &[Text]) -> Self {
        Self {
            host: worst.host.to_string(),
            dst_host: worst.to.to_string(),
            step: worst.step,
            round_trip_ns: worst.round_trip_ns,
            overdue: worst.is_overdue,
            base_round_trip_ns: worst.base_ns,
            detections,
            burst_probes: bursts.map_or(0, |burst| burst.probes),
            burst_answered: bursts.map_or(0, |burst| burst.answered),
            burst_max_round_trip_ns: bursts.and_then(|burst| burst.max_ns),
            recorded_by: recorded_by.iter().map(ToString::to_string).collect(),
        }
    }

    fn text(&self) -> String {
        let Self {
            host, dst_host, step, ..
        } = self;
        let found = match self.overdue {
            true => "were not answered for",
            false => "took up to",
        };
        let mut text = format!(
            "Probes along the path of host {host} to {dst_host} {found} {} in step {step}, instead of {}; {} detections.",
            ms(self.round_trip_ns),
            ms(self.base_round_trip_ns),
            self.detections
        );
        if self.burst_probes > 0 {
            let longest = self.burst_max_round_trip_ns.map(ms);
            text.push_str(&format!(
                " Of {} probes after it, {} were answered{}.",
                self.burst_probes,
                self.burst_answered,
                longest.map_or_else(String::new, |longest| format!(", within {longest}"))
            ));
        }
        if !self.recorded_by.is_empty() {
            text.push_str(&format!(" Recorded by {}.", self.recorded_by.join(", ")));
        }
        text
    }
}

impl EvidenceDocument {
    pub(crate) fn of(evidence: &Evidence) -> Self {
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
                    slow: None,
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
                    slow: None,
                    text: format!(
                        "{marked} of {packets} packets of {} had ECN marks at {observer}: they met a queue before it.",
                        flow.text()
                    ),
                    flow: Some(flow),
                }
            }
            Evidence::Slow {
                worst,
                detections,
                bursts,
                recorded_by,
            } => {
                let slow = SlowDocument::of(worst, *detections, bursts.as_ref(), recorded_by);
                let flow = FlowKey {
                    src: worst.src,
                    dst: worst.dst,
                    src_port: Some(worst.src_port),
                };
                Self {
                    kind: "slow_path",
                    observer: worst.agent.to_string(),
                    port: None,
                    paused_ns: None,
                    frames: None,
                    packets: None,
                    marked_packets: None,
                    flow: Some(FlowDocument::of(&flow)),
                    text: slow.text(),
                    slow: Some(slow),
                }
            }
        }
    }
}
