//! The critical path.

use crate::analysis::Analysis;
use crate::steps::Steps;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// The start or the end of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VertexDocument {
    /// The host.
    pub host: String,
    /// Number of the step.
    pub step: u32,
    /// `begin` or `end`.
    pub event: &'static str,
    /// The channel, if the source has channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u16>,
}

/// A step on the critical path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartDocument {
    /// The host that sends.
    pub host: String,
    /// Number of the step.
    pub step: u32,
    /// The channel, if the source has channels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u16>,
    /// The host that receives.
    pub to: String,
    /// Start of the step.
    pub start_ns: i64,
    /// How long it took.
    pub duration_ns: i64,
    /// How long it takes alone; null if unknown.
    pub expected_ns: Option<i64>,
    /// Its weight on the path.
    pub weight_ns: i64,
    /// Host whose step it waited for; null if it only waited for its own.
    pub waited_for_host: Option<String>,
    /// Number of that step.
    pub waited_for_step: Option<u32>,
}

/// The critical path, from the end of the collective to its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathDocument {
    /// Its length.
    pub total_ns: i64,
    /// Starts and ends of steps.
    pub vertices: Vec<VertexDocument>,
    /// Its steps.
    pub parts: Vec<PartDocument>,
}

impl PathDocument {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let steps = &analysis.steps;
        let name = |step: usize| steps.host(&steps.steps[step]).to_string();
        let path = &analysis.path;
        Self {
            total_ns: path.total_ns,
            vertices: path
                .vertices
                .iter()
                .map(|vertex| VertexDocument {
                    host: name(vertex.step),
                    step: steps.steps[vertex.step].number,
                    event: vertex.event.name(),
                    channel: channel(steps, vertex.step),
                })
                .collect(),
            parts: path
                .parts
                .iter()
                .map(|part| {
                    let step = &steps.steps[part.step];
                    PartDocument {
                        host: name(part.step),
                        step: step.number,
                        channel: channel(steps, part.step),
                        to: steps.hosts[step.to as usize].to_string(),
                        start_ns: step.start_ns,
                        duration_ns: step.duration_ns,
                        expected_ns: step.expected_ns(),
                        weight_ns: part.ns,
                        waited_for_host: step.awaited().map(name),
                        waited_for_step: step.awaited().map(|awaited| steps.steps[awaited].number),
                    }
                })
                .collect(),
        }
    }
}

fn channel(steps: &Steps, step: usize) -> Option<u16> {
    steps.streams[steps.steps[step].stream as usize].channel
}
