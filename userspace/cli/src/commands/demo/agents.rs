//! What agents would send: probes of a mesh and counters of hosts, recorded from the simulators, and loopback tests.

use crate::commands::hostping::dataset;
use anyhow::{Context, Error, Result};
use rocescope_diagnose::hostping::rows::{About, rows};
use rocescope_diagnose::hostping::{Judge, Matrix, Rule, measured, topology};
use rocescope_model::human::plural;
use std::fs;
use std::path::Path;

/// The observer of the recorded rows.
pub(super) const FABRIC: &str = "fabric";
/// The host of the loopback tests.
pub(super) const HOST: &str = "gpu-host";

/// The start of the recorded rows: 2026-01-01.
const START_NS: i64 = 1_767_225_600_000_000_000;

/// A file of `examples/fabric`, and where it is in the dataset.
macro_rules! segment {
    ($path:literal) => {
        (
            $path,
            include_bytes!(concat!("../../../../../examples/fabric/", $path)).as_slice(),
        )
    };
}

const SEGMENTS: [(&str, &[u8]); 3] = [
    segment!("counters/date=2026-01-01/hour=00/fabric-20260101T000000Z-0000.parquet"),
    segment!("paths/date=2026-01-01/hour=00/fabric-20260101T000000Z-0000.parquet"),
    segment!("probes/date=2026-01-01/hour=00/fabric-20260101T000000Z-0000.parquet"),
];

const TOPOLOGY: &str = include_str!("../../../../../examples/hostping/topology.xml");
const HEALTHY: &str = include_str!("../../../../../examples/hostping/healthy-1.txt");
const LOOPBACK: &str = include_str!("../../../../../examples/hostping/loopback.txt");

pub(super) fn add(out: &Path) -> Result<()> {
    for (path, bytes) in SEGMENTS {
        let path = out.join(path);
        fs::create_dir_all(path.parent().context("a segment has a directory")?)?;
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    crate::print("  probes of a mesh of twelve NICs, recorded in a simulated fabric: a link loses packets\n")?;
    crate::print("  counters of five hosts, recorded with simulated NICs: a cable is damaged\n")?;
    let tests = loopback(out)?;
    crate::print(&format!(
        "  loopback tests of a host ({}): a root port is slow\n",
        plural(tests, "test")
    ))
}

fn loopback(out: &Path) -> Result<u64> {
    let topology = topology::read(TOPOLOGY)?;
    let matrix = |text: &str| Matrix::of(&measured::read(text)?, &topology).map_err(Error::msg);
    let (healthy, measured) = (matrix(HEALTHY)?, matrix(LOOPBACK)?);
    let judge = Judge {
        topology: &topology,
        baseline: Some(&healthy),
        rule: Rule::SEED,
        busy: &[],
        loads: &[],
    };
    let about = About {
        observer: HOST,
        start_ns: START_NS,
        length_ns: 0,
        loads: &[],
    };
    let tests = rows(&topology, &measured, &judge.judge(&measured), &about);
    dataset::write(out, &tests, HOST)?;
    Ok(tests.len() as u64)
}
