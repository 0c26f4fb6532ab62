//! Reads paths from JSON or a dataset.

use anyhow::{Context, Result, anyhow, bail, ensure};
use rocescope_analysis::paths::captured::{Captured, flow_of};
use rocescope_analysis::paths::runs::{Run, captured_key, held, runs};
use rocescope_diagnose::paths::Fabric;
use rocescope_model::human::plural;
use rocescope_model::{FLOW_PATH_TABLES, FlowRow, Time};
use rocescope_paths::known;
use rocescope_store::{Query, Scan, TimeRange};
use std::collections::BTreeSet;
use std::path::Path;

/// Which run of a dataset.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    /// The newest.
    Newest,
    /// The newest is 1, the one before 2.
    Number(u16),
    /// The newest that started in this time.
    Within(TimeRange),
    /// The one that holds in this time.
    HeldIn(TimeRange),
}

/// Reads the paths of a file, or of a run of a dataset.
pub(super) fn read(path: &Path, which: Which) -> Result<Run> {
    if !path.is_dir() {
        ensure!(
            matches!(which, Which::Newest),
            "a time or a number of a run needs a dataset, and {} is a file",
            path.display()
        );
        let text = rocescope_input::text(path).with_context(|| path.display().to_string())?;
        let paths = known::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let unknown = paths.iter().filter(|path| path.hops.is_empty()).count() as u64;
        let mut names = BTreeSet::new();
        let repeated = paths.iter().filter(|path| !names.insert(&path.name)).count() as u64;
        return Ok(Run {
            time: None,
            paths,
            unknown,
            repeated,
        });
    }
    let stored = Query::default().tables(FLOW_PATH_TABLES).open(path)?;
    let mut runs = runs(&stored)?;
    let starts: Vec<i64> = runs.keys().copied().collect();
    let [Some(first), Some(last)] = [starts.first(), starts.last()].map(|start| start.map(|start| Time(*start))) else {
        bail!(
            "{} has no rows in `flow_paths`: `rocescope paths discover --out` writes them",
            path.display()
        );
    };
    let count = plural(starts.len() as u64, "run");
    let (start, time) = match which {
        Which::Newest => (starts.last().copied(), TimeRange::default()),
        Which::Number(number) => {
            let start = starts.iter().rev().nth(usize::from(number) - 1).copied();
            ensure!(start.is_some(), "{} has {count}, and no run {number}", path.display());
            (start, TimeRange::default())
        }
        Which::Within(time) => {
            let start = starts.iter().rev().find(|start| time.contains(**start)).copied();
            ensure!(
                start.is_some(),
                "{} has {count}, from {first:.0} to {last:.0}, and none that started in the requested time; --windows takes the one before",
                path.display()
            );
            (start, time)
        }
        Which::HeldIn(time) => (held(&starts, time), time),
    };
    let mut run = start.and_then(|start| runs.remove(&start)).unwrap_or_default();
    rate(&Query::default().within(time).open(path)?, &mut run)?;
    Ok(run)
}

/// Adds the mean rates of captured flows, where the dataset has them; other flows keep the rate that they had.
fn rate(found: &Scan, run: &mut Run) -> Result<()> {
    let mut captured = Captured::default();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let mut timeline = found.select::<FlowRow>().timeline()?;
    while let Some(start_ns) = timeline.next_ns() {
        for (_, row) in timeline.take(start_ns)? {
            first = first.min(row.window_start_ns);
            last = last.max(row.window_start_ns.saturating_add(row.window_ns));
            if let Some(flow) = flow_of(&row) {
                captured.add(flow, &row);
            }
        }
    }
    let bytes = captured.five_tuples();
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
    let per_second = |bytes: u64| bytes as f64 * 8e9 / last.saturating_sub(first).max(1) as f64;
    for path in &mut run.paths {
        let captured = path.flow.and_then(|flow| bytes.get(&captured_key(&flow)));
        path.bps = captured.map(|bytes| per_second(*bytes)).or(path.bps);
    }
    Ok(())
}

/// Refuses a topology without links.
pub(super) fn ensure_links(fabric: &Fabric, path: &Path) -> Result<()> {
    ensure!(fabric.links() > 0, "{} has no links", path.display());
    Ok(())
}
