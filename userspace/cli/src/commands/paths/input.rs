//! Reads paths from JSON or a dataset.

use anyhow::{Context, Result, anyhow, ensure};
use rocescope_diagnose::paths::{Fabric, Hop, Imbalance, Loads, Walk};
use rocescope_model::{FlowPathRow, FlowRow, Row, Time};
use rocescope_paths::{Flow, KnownPath, known};
use rocescope_store::{Query, Scan, TimeRange};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The paths of a run.
#[derive(Debug, Default)]
pub(in crate::commands) struct Run {
    /// When it started; a file does not contain it.
    pub(in crate::commands) time: Option<Time>,
    pub(in crate::commands) paths: Vec<KnownPath>,
    /// Flows without a known hop.
    pub(in crate::commands) unknown: u64,
}

/// Reads the paths of a file, or the last run of a dataset.
pub(super) fn read(path: &Path, time: TimeRange) -> Result<Run> {
    if !path.is_dir() {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let paths = known::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let unknown = paths.iter().filter(|path| path.hops.is_empty()).count() as u64;
        return Ok(Run {
            time: None,
            paths,
            unknown,
        });
    }
    let found = Query::default().within(time).open(path)?;
    let mut runs = runs(&found)?;
    let (_, mut run) = runs.pop_last().ok_or_else(|| {
        anyhow!(
            "{} has no rows in `flow_paths`: `rocescope paths discover --out` writes them",
            path.display()
        )
    })?;
    rate(&found, &mut run)?;
    Ok(run)
}

/// All runs of a dataset by their start.
pub(in crate::commands) fn runs(found: &Scan) -> Result<BTreeMap<i64, Run>> {
    let mut flows: BTreeMap<(i64, Flow), BTreeMap<u16, Hop>> = BTreeMap::new();
    found.select::<FlowPathRow>().for_each(|row| {
        let flow = Flow {
            src: row.src,
            dst: row.dst,
            protocol: row.protocol,
            src_port: row.src_port,
            dst_port: row.dst_port,
            dst_qpn: row.dst_qpn,
        };
        let hops = flows.entry((row.time_ns, flow)).or_default();
        if let Some(egress) = row.egress.filter(|_| row.hop > 0) {
            hops.insert(row.hop, Hop(row.node.as_str().into(), egress.as_str().into()));
        }
    })?;
    let mut runs: BTreeMap<i64, Run> = BTreeMap::new();
    for ((time_ns, flow), hops) in flows {
        let run = runs.entry(time_ns).or_default();
        run.time = Some(Time(time_ns));
        run.unknown += u64::from(hops.is_empty());
        run.paths.push(KnownPath {
            name: flow.to_string(),
            flow: Some(flow),
            hops: hops.into_values().collect(),
            bps: None,
        });
    }
    Ok(runs)
}

/// A flow as a capture sees it.
pub(in crate::commands) type CapturedKey = (std::net::IpAddr, std::net::IpAddr, u16);

pub(in crate::commands) fn captured_key(flow: &Flow) -> CapturedKey {
    (flow.src, flow.dst, flow.src_port)
}

/// Adds the mean rates of captured flows, where the dataset has them.
fn rate(found: &Scan, run: &mut Run) -> Result<()> {
    let mut bytes: BTreeMap<CapturedKey, u64> = BTreeMap::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    found.select::<FlowRow>().for_each(|row| {
        first = first.min(row.window_start_ns);
        last = last.max(row.window_start_ns.saturating_add(row.window_ns));
        if let Some(port) = row.udp_src_port {
            *bytes.entry((row.src, row.dst, port)).or_default() += row.frame_bytes;
        }
    })?;
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    let per_second = |bytes: u64| bytes as f64 * 8e9 / last.saturating_sub(first).max(1) as f64;
    for path in &mut run.paths {
        let captured = path.flow.and_then(|flow| bytes.get(&captured_key(&flow)));
        path.bps = captured.map(|bytes| per_second(*bytes));
    }
    Ok(())
}

/// The loads of a run, and what contradicts the topology.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) imbalance: Imbalance,
    pub(super) problems: Vec<Problem>,
    /// All problems by reason; `problems` has the first of them.
    pub(super) counts: BTreeMap<&'static str, u64>,
}

/// A hop that contradicts the topology.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    pub(super) flow: String,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// Problems in the output, at most.
const MAX_PROBLEMS: usize = 1_000;

pub(super) fn measure(fabric: &Fabric, run: &Run) -> Measured {
    let mut loads = Loads::new(fabric);
    let mut measured = Measured::default();
    for path in run.paths.iter().filter(|path| !path.hops.is_empty()) {
        let walk = Walk::new(fabric, &path.hops);
        for problem in &walk.problems {
            *measured.counts.entry(problem.reason()).or_default() += 1;
            if measured.problems.len() < MAX_PROBLEMS {
                measured.problems.push(Problem {
                    flow: path.name.clone(),
                    reason: problem.reason(),
                    message: problem.to_string(),
                });
            }
        }
        loads.add(&walk.ways, path.bps);
    }
    measured.imbalance = loads.imbalance(fabric);
    measured
}

/// Refuses a topology without links.
pub(super) fn ensure_links(fabric: &Fabric, path: &Path) -> Result<()> {
    ensure!(fabric.links() > 0, "{} has no links", path.display());
    Ok(())
}

/// Name of the table of runs.
pub(super) fn has_runs(found: &Scan) -> bool {
    found.row_count(FlowPathRow::TABLE.name) > 0
}
