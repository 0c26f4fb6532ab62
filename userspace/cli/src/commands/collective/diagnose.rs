//! `rocescope diagnose collective`: which step, flow and port made a collective slow.

use super::files;
use crate::arguments::{CollectiveOutput, DiagnoseCollectiveArguments};
use crate::commands::span;
use anyhow::{Result, ensure};
use rocescope_analysis::collectives::{Collective, Collectives};
use rocescope_analysis::dataset;
use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::document::Document;
use rocescope_collective::dot::dot;
use rocescope_collective::read::nccl_debug::{self, Ranks};
use rocescope_collective::steps::Steps;
use rocescope_collective::telemetry::counters::Counters;
use rocescope_collective::telemetry::marks::Marks;
use rocescope_collective::telemetry::slow_paths::SlowPaths;
use rocescope_collective::telemetry::{Source, Telemetry};
use rocescope_model::human::plural;
use rocescope_model::{CounterRow, EventRow, FlowRow, Row, SmallFlowRow, StepProbeRow, StepRow, TelemetryRow, json};
use rocescope_store::{Query, Scan, TimeRange};
use std::process::ExitCode;
use std::slice;

pub(in crate::commands) fn run(arguments: &DiagnoseCollectiveArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let time = span::range(&arguments.span)?;
    let found = Query::default().within(time).open(root)?;
    let has = |table: &str| found.row_count(table) > 0;
    ensure!(
        has(StepRow::TABLE.name) || has(TelemetryRow::TABLE.name),
        "{} has no rows in `steps` or `telemetry`: `rocescope collective import` writes them",
        root.display()
    );
    if has(StepRow::TABLE.name) {
        span::require::<StepRow>(&[root.as_path()], slice::from_ref(&found), &arguments.span)?;
    }
    let ranks = match &arguments.nccl_debug {
        Some(path) => nccl_debug::read(&files::read(path)?),
        None => Ranks::default(),
    };
    let mut analysis = analysis(&found, arguments.collective.as_deref(), &ranks)?;
    analysis.complaints.append(ranks.complaints);
    for file in found.damaged() {
        let reason = format!("unreadable: {}", file.reason);
        analysis.complaints.add(&reason, file.path.display());
    }
    crate::print(&match arguments.output {
        CollectiveOutput::Table => Document::of(&analysis).text(),
        CollectiveOutput::Json => json::pretty(&Document::of(&analysis)) + "\n",
        CollectiveOutput::Dot => dot(&analysis),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Analyzes the collective with this name, or the one that took longest.
pub(in crate::commands) fn analysis(found: &Scan, collective: Option<&str>, ranks: &Ranks) -> Result<Analysis> {
    let (steps, others) = steps(found, collective, ranks)?;
    let telemetry = telemetry(found, &steps)?;
    let mut analysis = analyze(steps, &telemetry);
    if others > 0 {
        let more = plural(others, "other collective");
        analysis
            .complaints
            .add("not analyzed; --collective NAME selects one", more);
    }
    Ok(analysis)
}

/// What the dataset has about the network: telemetry, and about the time of these steps counters of hosts, ECN marks, and
/// what agents' monitors found.
fn telemetry(found: &Scan, steps: &Steps) -> Result<Telemetry> {
    let mut telemetry = found.rows::<TelemetryRow>()?.as_slice().telemetry();
    let Some((first_ns, last_ns)) = steps.span_ns() else {
        return Ok(telemetry);
    };
    let mut counters = Vec::new();
    found.select::<CounterRow>().for_each(|row| {
        if row.metric.as_deref().is_some_and(Counters::need) {
            counters.push(row);
        }
    })?;
    telemetry.append(Counters(&counters).telemetry());
    let mut marked = Vec::new();
    found.select::<FlowRow>().for_each(|row| {
        let is_then = row.window_start_ns <= last_ns && row.window_start_ns.saturating_add(row.window_ns) >= first_ns;
        if row.ecn_ce_packets > 0 && is_then {
            marked.push(row);
        }
    })?;
    telemetry.append(Marks(&marked).telemetry());
    telemetry.append(slow_paths(found, first_ns, last_ns)?);
    Ok(telemetry)
}

/// What the monitors of agents found and asked in this time.
fn slow_paths(found: &Scan, first_ns: i64, last_ns: i64) -> Result<Telemetry> {
    let time = first_ns..=last_ns;
    let mut probes = Vec::new();
    found.select::<StepProbeRow>().for_each(|row: StepProbeRow| {
        if &*row.event != StepProbeRow::END && time.contains(&row.time_ns) {
            probes.push(row);
        }
    })?;
    let (mut bursts, mut recordings) = (Vec::new(), Vec::new());
    if !probes.is_empty() {
        found.select::<SmallFlowRow>().for_each(|row: SmallFlowRow| {
            if time.contains(&row.window_start_ns) {
                bursts.push(row);
            }
        })?;
        found.select::<EventRow>().for_each(|row: EventRow| {
            if &*row.kind == EventRow::SLOW_STEP && time.contains(&row.time_ns) {
                recordings.push(row);
            }
        })?;
    }
    Ok(SlowPaths {
        probes: &probes,
        bursts: &bursts,
        recordings: &recordings,
    }
    .telemetry())
}

/// The steps of the collective to analyze, and how many others there are.
fn steps(found: &Scan, collective: Option<&str>, ranks: &Ranks) -> Result<(Steps, u64)> {
    let mut analysis = Collectives::new(ranks);
    let mut names = Vec::new();
    let mut chosen: Option<Collective> = None;
    dataset::hours(&mut analysis, found, TimeRange::default(), |_, found| {
        names.push(found.name.clone());
        let length = |of: &Collective| of.end_ns.saturating_sub(of.start_ns);
        let is_chosen = match collective {
            Some(name) => found.name == name,
            None => chosen.as_ref().is_none_or(|known| length(&found) >= length(known)),
        };
        if is_chosen {
            chosen = Some(found);
        }
        Ok::<(), rocescope_store::Error>(())
    })?;
    if let Some(name) = collective {
        ensure!(
            chosen.is_some(),
            "there is no collective {name} in this dataset and time: it has {}",
            names.join(", ")
        );
    }
    let others = match collective {
        Some(_) => 0,
        None => names.len().saturating_sub(1) as u64,
    };
    Ok((chosen.map(|chosen| analysis.steps(chosen)).unwrap_or_default(), others))
}
