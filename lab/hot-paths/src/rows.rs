//! The paths of analyses, from rows to verdicts.

use crate::measured;
use rocescope_collective::analysis::analyze;
use rocescope_collective::steps::Builder;
use rocescope_collective::telemetry::Telemetry;
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Rails};
use rocescope_model::{StepRow, Text};
use std::error::Error;

const HOSTS: u32 = 40;
const NICS: u32 = 8;
const NICS_A_LEAF: u32 = 4;
const WINDOW_NS: i64 = 20_000_000_000;
/// The start of an hour.
const START_NS: i64 = 1_795_200_000_000_000_000;

const RANKS: u32 = 64;
const STEPS: u32 = 500;
const STEP_NS: i64 = 1_000_000;

/// Probes of a healthy mesh, and the verdicts of their window.
pub(crate) fn mesh() -> Result<u64, Box<dyn Error>> {
    let fabric = Fabric::new(Rails::two_tiers(HOSTS, NICS, NICS_A_LEAF).build()?, 1);
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let (mut paths, mut probes) = (Vec::new(), Vec::new());
    mesh.paths(&fabric, START_NS, |tuple, trace| {
        paths.extend(names.path(&fabric, tuple, START_NS, &trace));
    });
    mesh.probes(&fabric, START_NS, START_NS + WINDOW_NS, |probe| {
        probes.push(names.probe(&fabric, &mesh, &probe));
    });
    let mut analyzer = Analyzer::new(Settings::default(), "hot paths")?;
    let windows = measured(|| {
        paths.iter().for_each(|row| analyzer.path(row));
        probes.iter().for_each(|row| analyzer.probe(row));
        analyzer.finish()
    });
    match windows.is_empty() {
        true => Err("no windows".into()),
        false => Ok(probes.len() as u64),
    }
}

/// Steps of a ring in which each waits for the previous rank, and their critical path.
pub(crate) fn collective() -> Result<u64, Box<dyn Error>> {
    let names: Vec<Text> = (0..RANKS).map(|rank| format!("host-{rank}").into()).collect();
    let rows: Vec<StepRow> = (1..=STEPS)
        .flat_map(|step| (0..RANKS).map(move |rank| (step, rank)))
        .map(|(step, rank)| ring_step(&names, rank, step))
        .collect();
    let analysis = measured(|| {
        let mut builder = Builder::default();
        rows.iter().for_each(|row| builder.add(row));
        analyze(builder.finish(), &Telemetry::default())
    });
    match analysis.path.parts.is_empty() {
        true => Err("no critical path".into()),
        false => Ok(rows.len() as u64),
    }
}

fn ring_step(names: &[Text], rank: u32, step: u32) -> StepRow {
    let name = |rank: u32| names.get((rank % RANKS) as usize).cloned().unwrap_or_default();
    StepRow {
        host: name(rank),
        step,
        dst_host: name(rank + 1),
        waits_known: true,
        awaited_host: (step > 1).then(|| name(rank + RANKS - 1)),
        awaited_step: (step > 1).then(|| step - 1),
        time_ns: i64::from(step) * STEP_NS,
        duration_ns: Some(STEP_NS - i64::from(rank % 7)),
        expected_ns: Some(STEP_NS - 10),
        ..StepRow::default()
    }
}
