//! The diagnosis of a collective of a dataset.

use super::{Collective, Collectives};
use crate::{Error, dataset, owners};
use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::failed::Joiner;
use rocescope_collective::hang::Hang;
use rocescope_collective::names::{self, Names};
use rocescope_collective::read::nccl_debug::Ranks;
use rocescope_collective::read::nccl_failures::Failures;
use rocescope_collective::steps::Steps;
use rocescope_collective::telemetry::counters::Counters;
use rocescope_collective::telemetry::marks::Marks;
use rocescope_collective::telemetry::slow_paths::SlowPaths;
use rocescope_collective::telemetry::{Source, Telemetry};
use rocescope_diagnose::owners::Owners;
use rocescope_model::human::plural;
use rocescope_model::{
    ConnectionRow, CounterRow, EventRow, FlowRow, QueuePairRow, Row, SmallFlowRow, StepProbeRow, StepRow, TelemetryRow,
};
use rocescope_store::{Scan, TimeRange};
use std::collections::HashSet;

/// Analyzes the collective with this name, or the one that took longest if none hangs.
///
/// # Errors
/// The dataset cannot be read, or has no collective of this name.
pub fn diagnose(found: &Scan, collective: Option<&str>, names: Names) -> Result<Analysis, Error> {
    let (steps, others, hangs) = steps(found, collective, names)?;
    let telemetry = telemetry(found, &steps)?;
    let mut analysis = Analysis {
        hangs,
        ..analyze(steps, &telemetry)
    };
    if others > 0 {
        let more = plural(others, "other collective");
        analysis
            .complaints
            .add("not analyzed; --collective NAME selects one", more);
    }
    Ok(analysis)
}

/// The names of the hosts of captured steps: jobs and ranks that agents report, and these ranks.
///
/// # Errors
/// The dataset cannot be read.
pub fn names(found: &Scan, ranks: Ranks) -> Result<Names, Error> {
    let mut owners = Owners::default();
    if found.row_count(QueuePairRow::TABLE.name) > 0 {
        let mut asked = HashSet::new();
        found
            .select::<StepRow>()
            .for_each(|row: StepRow| asked.extend(names::asked(&row)))?;
        owners = Owners::of_these(asked);
        owners::add(&mut owners, found, TimeRange::default())?;
    }
    Ok(Names { ranks, owners })
}

/// Joins transfers that NCCL reports as failed with what captures saw between their ends.
///
/// # Errors
/// The dataset cannot be read.
pub fn failed(found: &Scan, failures: Failures, analysis: &mut Analysis) -> Result<(), Error> {
    let mut joiner = Joiner::new(failures);
    if !joiner.is_empty() {
        found
            .select::<ConnectionRow>()
            .for_each(|row: ConnectionRow| joiner.connection(&row))?;
        found.select::<FlowRow>().for_each(|row: FlowRow| joiner.flow(&row))?;
    }
    let (failed, complaints) = joiner.join();
    analysis.failed = failed;
    analysis.complaints.append(complaints);
    Ok(())
}

/// What the dataset has about the network: telemetry, and about the time of these steps counters of hosts, ECN marks, and
/// what agents' monitors found.
fn telemetry(found: &Scan, steps: &Steps) -> Result<Telemetry, Error> {
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
fn slow_paths(found: &Scan, first_ns: i64, last_ns: i64) -> Result<Telemetry, Error> {
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

/// The steps of the collective to analyze, how many others there are, and which hang.
fn steps(found: &Scan, collective: Option<&str>, named: Names) -> Result<(Steps, u64, Vec<Hang>), Error> {
    let mut analysis = Collectives::new(named);
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
    if let Some(name) = collective
        && chosen.is_none()
    {
        return Err(Error::NoCollective(name.to_owned(), names.join(", ")));
    }
    let hangs = analysis.hangs();
    if collective.is_none() && !hangs.is_empty() {
        // One that has completed is no answer to those who wait for another.
        chosen = None;
    }
    let others = match collective {
        Some(_) => 0,
        None => names.len().saturating_sub(usize::from(chosen.is_some())) as u64,
    };
    let mut steps = chosen.map(|chosen| analysis.steps(chosen)).unwrap_or_default();
    if analysis.has_counts() && hangs.is_empty() {
        let kind = "no rank is missing, behind, or called something else; two reports half a minute apart show whether the job \
                    goes on";
        steps.complaints.add(kind, "reports of RAS");
    }
    Ok((steps, others, hangs))
}
