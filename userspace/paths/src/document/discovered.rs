//! Paths with their outcomes, and what devices did.

use super::flows;
use crate::discover::{DeviceWork, Outcome, Plan, Run, Trace, hops};
use crate::driver::HASH_FIELDS_UNKNOWN;
use crate::known::COMPLETE;
use crate::workload::pairs::Shortfall;
use crate::{Flow, Workload};
use rocescope_diagnose::paths::Hop;
use rocescope_model::human::plural;
use rocescope_model::{Time, json, render};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    time: Time,
    #[serde(serialize_with = "json::float")]
    seconds: f64,
    flows: usize,
    outcomes: &'a BTreeMap<&'static str, u64>,
    skipped: &'a BTreeMap<&'static str, u64>,
    shortfalls: &'a [Shortfall],
    devices: Vec<DeviceItem<'a>>,
    paths: Vec<PathItem<'a>>,
}

#[derive(Serialize)]
struct DeviceItem<'a> {
    node: &'a str,
    sessions: u64,
    commands: u64,
    hash_fields: Option<&'a [String]>,
    channel_hash_fields: Option<&'a [String]>,
    assumed_5_tuple: Option<&'a str>,
    failures: Vec<FailureItem<'a>>,
}

#[derive(Serialize)]
struct FailureItem<'a> {
    reason: &'a str,
    count: u64,
    message: &'a str,
}

#[derive(Serialize)]
struct PathItem<'a> {
    flow: &'a Flow,
    hops: Vec<Hop>,
    outcome: &'static str,
    detail: &'a str,
    #[serde(serialize_with = "json::float", skip_serializing_if = "Option::is_none")]
    bps: Option<f64>,
}

fn stated(fields: &[String]) -> Option<&[String]> {
    (!fields.is_empty()).then_some(fields)
}

/// The JSON of a run.
#[must_use]
pub fn document(
    time: Time,
    plan: &Plan,
    run: &Run,
    (workload, short): (&Workload, &[Shortfall]),
    outcomes: &BTreeMap<&'static str, u64>,
) -> String {
    let devices = run.devices.iter().map(|(node, work)| DeviceItem {
        node: plan.fabric.name(*node),
        sessions: work.sessions,
        commands: work.commands,
        hash_fields: stated(&work.hash_fields),
        channel_hash_fields: stated(&work.channel_hash_fields),
        assumed_5_tuple: work.assumed.as_deref(),
        failures: failures(work).collect(),
    });
    let paths = run.traces.iter().zip(&workload.flows).map(|(trace, rated)| PathItem {
        flow: &trace.flow,
        hops: hops(&plan.fabric, &trace.ways),
        outcome: trace.outcome.reason,
        detail: &trace.outcome.detail,
        bps: rated.bps,
    });
    json::pretty(&Document {
        time,
        seconds: run.took.as_secs_f64(),
        flows: run.traces.len(),
        outcomes,
        skipped: &workload.skipped,
        shortfalls: short,
        devices: devices.collect(),
        paths: paths.collect(),
    })
}

fn failures(work: &DeviceWork) -> impl Iterator<Item = FailureItem<'_>> {
    work.failures.iter().map(|(reason, (count, message))| FailureItem {
        reason,
        count: *count,
        message,
    })
}

/// Paths that are printed, and reasons of several flows: all are in the JSON.
const MAX_PATHS: usize = 1_000;
const MAX_REASONS: usize = 50;

/// The text of a run. What several flows share is printed once, below the list.
#[must_use]
pub fn text(
    plan: &Plan,
    run: &Run,
    (workload, short): (&Workload, &[Shortfall]),
    outcomes: &BTreeMap<&'static str, u64>,
) -> String {
    let mut details: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for Outcome { reason, detail } in run.traces.iter().map(|trace| &trace.outcome) {
        if !detail.is_empty() {
            *details.entry((reason, detail)).or_default() += 1;
        }
    }
    let is_shared = |outcome: &Outcome| {
        details
            .get(&(outcome.reason, &*outcome.detail))
            .is_some_and(|count| *count > 1)
    };
    let mut lines = vec![["Flow", "Outcome", "Path"].map(String::from).to_vec()];
    lines.extend(run.traces.iter().take(MAX_PATHS).map(|trace| {
        let mut path = path(plan, trace);
        if !trace.outcome.detail.is_empty() && !is_shared(&trace.outcome) {
            path = format!("{path} ({})", trace.outcome.detail);
        }
        vec![trace.flow.to_string(), trace.outcome.reason.to_owned(), path]
    }));
    let mut text = render::align(&lines, &[false, false, false]);
    if run.traces.len() > MAX_PATHS {
        text.push_str(&format!("and {} more: -o json has all\n", run.traces.len() - MAX_PATHS));
    }
    let counts: Vec<String> = outcomes
        .iter()
        .map(|(outcome, count)| format!("{count} {outcome}"))
        .collect();
    text.push_str(&format!(
        "\n{} in {:.2} s: {}\n",
        plural(run.traces.len() as u64, "flow"),
        run.took.as_secs_f64(),
        counts.join(", ")
    ));
    let shared: Vec<_> = details.iter().filter(|(_, count)| **count > 1).collect();
    for ((reason, detail), count) in shared.iter().take(MAX_REASONS) {
        text.push_str(&format!("{}: {reason}: {detail}\n", plural(**count, "flow")));
    }
    if shared.len() > MAX_REASONS {
        let more = plural((shared.len() - MAX_REASONS) as u64, "other reason");
        text.push_str(&format!("and {more}: -o json has all\n"));
    }
    for (node, work) in &run.devices {
        let name = plan.fabric.name(*node);
        if let Some(why) = &work.assumed {
            text.push_str(&format!("{name}: taken to hash the 5-tuple: {why}\n"));
        }
        for FailureItem { reason, count, message } in failures(work) {
            // A failure that ended flows is above.
            if !details.contains_key(&(reason, &*format!("{name}: {message}"))) {
                text.push_str(&format!("{name}: {count} {reason}: {message}\n"));
            }
        }
    }
    if outcomes.contains_key(HASH_FIELDS_UNKNOWN) {
        text.push_str("If these devices hash the 5-tuple and nothing else: --assume-5-tuple\n");
    }
    text.push_str(&flows::notes(workload, short));
    text
}

/// The egress ports of a path, and the node where it ends early.
fn path(plan: &Plan, trace: &Trace) -> String {
    let fabric = &plan.fabric;
    let hops = hops(fabric, &trace.ways);
    let mut hops: Vec<String> = hops.iter().map(|Hop(node, port)| format!("{node}:{port}")).collect();
    if trace.outcome.reason != COMPLETE {
        let end = match trace.ways.last() {
            Some(way) => Some(fabric.to(*way).node),
            None => fabric.owner(trace.flow.src),
        };
        hops.extend(end.map(|node| fabric.name(node).to_owned()));
    }
    hops.join(" ")
}
