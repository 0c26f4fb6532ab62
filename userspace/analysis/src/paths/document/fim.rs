//! Flows per link, and the Flow Imbalance Metric of each layer.

use super::windows::{self, WindowFim};
use crate::paths::measured::{Measured, Problem};
use crate::paths::runs::Run;
use rocescope_diagnose::paths::{Imbalance, LinkLoad};
use rocescope_model::human::plural;
use rocescope_model::{Time, json, render};
use rocescope_paths::document::fim::{lower_bound, percent};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    imbalance: &'a Imbalance,
    /// Start of the run.
    time: Option<Time>,
    /// Flows whose path is not known to its end.
    flows_without_path: u64,
    /// Entries of a flow beside its first: they count too.
    flows_listed_again: u64,
    problem_counts: &'a BTreeMap<&'static str, u64>,
    problems: &'a [Problem],
    windows: Option<&'a [WindowFim]>,
}

/// One JSON object.
#[must_use]
pub fn document(run: &Run, measured: &Measured, windows: Option<&[WindowFim]>) -> String {
    json::pretty(&Document {
        imbalance: &measured.imbalance,
        time: run.time,
        flows_without_path: run.unknown,
        flows_listed_again: run.repeated,
        problem_counts: &measured.counts,
        problems: &measured.problems,
        windows,
    }) + "\n"
}

/// The layers, the `top` links that are furthest from even, and the windows.
#[must_use]
pub fn text(run: &Run, measured: &Measured, windows: Option<&[WindowFim]>, top: usize) -> String {
    let imbalance = &measured.imbalance;
    let flows = plural(imbalance.flows, "flow");
    let mut text = match imbalance.fim_percent {
        Some(fim) => format!("FIM {fim:.1} %: {flows}{}\n", lower_bound(imbalance)),
        None => format!("FIM unknown: {flows}, none on links between switches of known tiers\n"),
    };
    if let Some(fim) = imbalance.bytes_fim_percent {
        text.push_str(&format!("weighted by rate {fim:.1} %\n"));
    }
    if run.unknown > 0 {
        text.push_str(&format!(
            "{} left out: the path is not known to its end\n",
            plural(run.unknown, "flow")
        ));
    }
    text.push_str(&run.repetition(""));
    let heading = [
        "From",
        "To",
        "Links",
        "Flows",
        "Ideal",
        "Min",
        "Max",
        "Unused",
        "FIM",
        "Min FIM",
        "FIM by rate",
    ];
    let mut lines = vec![heading.map(String::from).to_vec()];
    lines.extend(imbalance.layers.iter().map(|layer| {
        vec![
            layer.from.clone(),
            layer.far(),
            layer.links.to_string(),
            layer.flows.to_string(),
            layer.ideal.map_or_else(|| "-".into(), |ideal| format!("{ideal:.2}")),
            layer.min_flows.to_string(),
            layer.max_flows.to_string(),
            layer.unused_links.to_string(),
            percent(layer.fim_percent),
            percent(layer.min_fim_percent),
            percent(layer.bytes_fim_percent),
        ]
    }));
    text.push('\n');
    let right = [false, false, true, true, true, true, true, true, true, true, true];
    text.push_str(&render::align(&lines, &right));
    if imbalance.layers.iter().any(|layer| layer.at_hosts && layer.flows > 0) {
        text.push_str("Layers at hosts have a FIM of their own, which is not part of that above.\n");
    }
    let mut far: Vec<&LinkLoad> = imbalance
        .link_loads
        .iter()
        .filter(|link| link.ideal.is_some())
        .collect();
    far.sort_by(|a, b| deviation(b).total_cmp(&deviation(a)));
    if !far.is_empty() && top > 0 {
        let mut lines = vec![["Link", "To", "Flows", "Ideal", "Deviation"].map(String::from).to_vec()];
        lines.extend(far.iter().take(top).map(|link| {
            vec![
                format!("{}:{}", link.from, link.from_port),
                format!("{}:{}", link.to, link.to_port),
                link.flows.to_string(),
                format!("{:.2}", link.ideal.unwrap_or_default()),
                format!("{:+.0} %", link.deviation_percent.unwrap_or_default()),
            ]
        }));
        text.push('\n');
        text.push_str(&render::align(&lines, &[false, false, true, true, true]));
    }
    if let Some(windows) = windows {
        text.push('\n');
        text.push_str(&windows::text(windows));
    }
    if !measured.counts.is_empty() {
        text.push('\n');
        text.push_str(&measured.lines(""));
    }
    text
}

fn deviation(link: &LinkLoad) -> f64 {
    link.deviation_percent.unwrap_or_default().abs()
}
