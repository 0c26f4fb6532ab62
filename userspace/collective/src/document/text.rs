//! The document as text: sentences, then tables.

use super::causes::CauseDocument;
use super::flows::ContributorDocument;
use super::path::{PartDocument, PathDocument};
use super::{Document, ms};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::render;

/// Failed transfers that the text has.
const FAILURES: usize = 20;

impl Document {
    /// The document as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for line in &self.summary {
            out.push_str(&format!("{line}\n"));
        }
        if !self.failed_transfers.is_empty() {
            let line = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{line}Failed transfers of NCCL\n"));
            for failure in self.failed_transfers.iter().take(FAILURES) {
                out.push_str(&format!("{}\n", failure.text));
            }
            let more = self.failed_transfers.len().saturating_sub(FAILURES);
            if more > 0 {
                out.push_str(&format!("and {more} more: -o json has all\n"));
            }
        }
        if !self.critical_path.parts.is_empty() {
            out.push_str("\nCritical path, from the end to the start\n");
            let mut lines = vec![
                ["Host", "Step", "To", "Took", "Expected", "Waited for"]
                    .map(String::from)
                    .to_vec(),
            ];
            lines.extend(self.critical_path.parts.iter().map(|part| {
                vec![
                    part.host.clone(),
                    part.step.to_string(),
                    part.to.clone(),
                    ms(part.duration_ns),
                    part.expected_ns.map_or_else(|| "unknown".into(), ms),
                    match (&part.waited_for_host, part.waited_for_step) {
                        (Some(host), Some(step)) => format!("{host}, step {step}"),
                        _ => "its own step before".into(),
                    },
                ]
            }));
            out.push_str(&render::align(&lines, &[false, true, false, true, true, false]));
        }
        if !self.contributors.is_empty() {
            out.push_str("\nFlows outside the collective that delayed it\n");
            let mut lines = vec![["Source", "Destination", "Port", "Rating"].map(String::from).to_vec()];
            lines.extend(self.contributors.iter().map(|one| {
                vec![
                    one.flow.src.to_string(),
                    one.flow.dst.to_string(),
                    one.flow
                        .src_port
                        .map_or_else(|| "unknown".into(), |port| port.to_string()),
                    format!("{:.1} packets", one.rating),
                ]
            }));
            out.push_str(&render::align(&lines, &[false, false, true, true]));
        }
        if !self.root_causes.is_empty() {
            out.push_str("\nRoot causes\n");
            for cause in &self.root_causes {
                out.push_str(&format!("{}\n", cause.text));
            }
        }
        if !self.evidence.is_empty() {
            out.push_str("\nWhat hosts, captures and probes saw while it ran\n");
            for evidence in &self.evidence {
                out.push_str(&format!("{}\n", evidence.text));
            }
        }
        for line in &self.complaints {
            out.push_str(&format!("note: {line}\n"));
        }
        out
    }
}

/// Which step, which flow, which port, why, and what it cost.
pub(super) fn summary(
    path: &PathDocument,
    contributors: &[ContributorDocument],
    causes: &[CauseDocument],
    has_waits: bool,
) -> Vec<String> {
    let parts = &path.parts;
    let mut lines = Vec::new();
    if parts.is_empty() {
        lines.push("There are no steps of a collective.".to_string());
        return lines;
    }
    lines.push(format!(
        "The critical path has {} steps and takes {}.",
        parts.len(),
        ms(path.total_ns)
    ));
    let excess = |part: &PartDocument| part.expected_ns.map(|expected| part.duration_ns - expected);
    let slowest = parts
        .iter()
        .filter_map(|part| Some((excess(part)?, part)))
        .max_by_key(|(excess, _)| *excess);
    let is_known = parts.iter().any(|part| part.expected_ns.is_some());
    let Some((most, part)) = slowest.filter(|(most, _)| *most > 0) else {
        if !is_known && has_waits {
            return lines;
        }
        lines.push("How long its steps take alone is unknown, or none took longer.".to_string());
        return lines;
    };
    let whole: i64 = parts.iter().filter_map(excess).filter(|excess| *excess > 0).sum();
    let mut line = format!(
        "Its steps took {} longer than alone; the slowest is step {} of host {} to {}, by {}.",
        ms(whole),
        part.step,
        part.host,
        part.to,
        ms(most)
    );
    if let Some(first) = contributors.first() {
        line.push_str(&format!(" Most of it is due to the flow {}", first.flow.text()));
        let place = causes.iter().find(|cause| cause.flows.contains(&first.flow));
        if let Some(place) = place {
            let kind = place.kind.replace('_', " ").replace("pfc", "PFC");
            line.push_str(&format!(", by {kind} at switch {}, port {}", place.switch, place.port));
        }
        line.push('.');
    } else if let Some(first) = causes.first() {
        line.push_str(&format!(" No other flow delayed it; there is a {}.", first.text));
    }
    lines.push(line);
    lines
}
