//! `rocescope merge`: merges the datasets of several boxes and hosts: windows one by one, other tables by copying
//! their rows.

mod other_tables;

use super::span;
use crate::arguments::MergeArguments;
use anyhow::{Context, Result, bail, ensure};
use rocescope_model::human::plural;
use rocescope_model::{
    CAPTURE_TABLES, EventRow, FlowRow, OpcodeRow, Row, SpreadRow, Text, WindowRow, WindowRows, footer,
};
use rocescope_pipeline::merge::{Parameters, Part, Target, merge_window};
use rocescope_report::Agreement;
use rocescope_store::{Options, Query, Rows, Scan, Unreadable, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &MergeArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    let time = span::range(&arguments.span)?;
    let mut scans = Vec::new();
    let mut notes = String::new();
    for root in &arguments.datasets {
        ensure!(!same(root, out), "{} is both input and output", root.display());
        let found = Query::default().within(time).open(root)?;
        if !found.open.is_empty() {
            let root = root.display();
            notes.push_str(&format!(
                "left     open segments in {root}: in use, or need `rocescope repair`\n"
            ));
        }
        scans.push(found);
    }
    let roots: Vec<&Path> = arguments.datasets.iter().map(PathBuf::as_path).collect();
    let has_others = other_tables::has_rows(&scans)?;
    if !has_others {
        span::require::<WindowRow>(&roots, &scans, &arguments.span)?;
    }
    refuse_repeated(&scans)?;
    other_tables::refuse_repeated(&arguments.datasets, &scans, out)?;
    let observer: Text = arguments.observer.clone().into();
    let parameters = parameters(&scans)?;
    ensure!(has_others || parameters.is_some(), "the datasets have no rows to merge");
    let mut pairs = parameters.as_ref().map(Parameters::footer).unwrap_or_default();
    pairs.extend(origin(arguments));
    let mut writer = Writer::create(
        out,
        Options {
            metadata: pairs,
            tables: if parameters.is_some() { CAPTURE_TABLES } else { &[] },
            ..Options::new(&arguments.observer)
        },
    )?;
    // The writer has sealed what a killed merge left.
    refuse_merged(&scans, out, &observer)?;
    events(&scans, &observer, &mut writer)?;
    let copied = other_tables::copy(&scans, &mut writer)?;
    let target = Target {
        observer,
        elephant_bps: parameters.as_ref().map_or(f64::INFINITY, Parameters::elephant_bps),
    };
    let windows = windows(&scans, &target, &mut writer)?;
    let summary = writer.finish()?;
    let damaged: Vec<Unreadable> = scans.iter().flat_map(Scan::damaged).collect();
    for unreadable in &damaged {
        let path = unreadable.path.display();
        notes.push_str(&format!("skipped  {path}: {}\n", unreadable.reason));
    }
    let rows = |table| summary.table(table).rows;
    let copied: String = copied
        .iter()
        .map(|(table, rows)| format!(", {} of `{table}`", plural(*rows, "row")))
        .collect();
    notes.push_str(&format!(
        "{}: {} from {}, {}, {}, {}{copied}\n",
        out.display(),
        plural(windows, "window"),
        plural(scans.len() as u64, "dataset"),
        plural(rows("flows"), "flow row"),
        plural(rows("opcodes"), "opcode row"),
        plural(rows("events"), "event"),
    ));
    crate::print(&notes)?;
    // The result lacks the rows of what was skipped.
    Ok(match damaged.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Two copies of the same windows would count every packet twice.
fn refuse_repeated(scans: &[Scan]) -> Result<()> {
    let mut agreement = Agreement::default();
    let mut windows = Rows::<WindowRow>::of(scans).timeline()?;
    while let Some(start_ns) = windows.next_ns() {
        let rows: Vec<WindowRow> = windows.take(start_ns)?.into_iter().map(|(_, row)| row).collect();
        agreement.window(&rows, &[], &[]);
    }
    match agreement.repetition() {
        Some(repetition) => bail!("{repetition} Name each dataset once, and write each capture into one of them."),
        None => Ok(()),
    }
}

/// A merge that was killed, or that ran before: its windows would be stored twice.
fn refuse_merged(scans: &[Scan], out: &Path, observer: &Text) -> Result<()> {
    let merged = rocescope_store::scan(out)?;
    let mut starts = Rows::<WindowRow>::of(std::slice::from_ref(&merged)).timeline()?;
    let mut windows = Rows::<WindowRow>::of(scans).timeline()?;
    while let (Some(ours), Some(start_ns)) = (starts.next_ns(), windows.next_ns()) {
        if ours < start_ns {
            starts.take(ours)?;
        } else if start_ns < ours {
            windows.take(start_ns)?;
        } else {
            windows.take(start_ns)?;
            let rows = starts.take(ours)?;
            ensure!(
                rows.iter().all(|(_, row)| row.observer != *observer),
                "{} already holds the window of {observer} at {}: a merge was killed, or ran before. Remove the directory, \
                 or name another one",
                out.display(),
                rocescope_model::Time(start_ns)
            );
        }
    }
    Ok(())
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        // A path that does not exist yet differs from the other.
        _ => false,
    }
}

/// The parameters that the segments of all captures share; `None` without a capture.
fn parameters(scans: &[Scan]) -> Result<Option<Parameters>> {
    let mut merged: Option<Parameters> = None;
    for segment in scans.iter().flat_map(|scan| scan.table(WindowRow::TABLE.name)) {
        let these = Parameters::of(|key| segment.footer(key));
        match &mut merged {
            None => merged = Some(these),
            Some(merged) => merged
                .join(&these)
                .with_context(|| segment.path.display().to_string())?,
        }
    }
    Ok(merged)
}

fn origin(arguments: &MergeArguments) -> [(String, String); 2] {
    let names = arguments.datasets.iter();
    let names: Vec<String> = names.map(|root| root.display().to_string()).collect();
    [
        (footer::SOURCE.into(), names.join(", ")),
        (footer::MODE.into(), "merge".into()),
    ]
}

/// Copies the events, as those of the merged observer.
///
/// They come before `windows`: the store guarantees that a window there is complete in every table.
fn events(scans: &[Scan], observer: &Text, writer: &mut Writer) -> Result<()> {
    for rows in Rows::<EventRow>::of(scans).columns(|_| true).batches() {
        let mut rows = rows?;
        rows.iter_mut().for_each(|row| row.observer.clone_from(observer));
        writer.append_cells(&rows, Instant::now())?;
    }
    Ok(())
}

/// Merges window by window; returns their number.
fn windows(scans: &[Scan], target: &Target, writer: &mut Writer) -> Result<u64> {
    let mut windows = Rows::<WindowRow>::of(scans).columns(|_| true).timeline()?;
    let mut flows = Rows::<FlowRow>::of(scans).columns(|_| true).timeline()?;
    let mut opcodes = Rows::<OpcodeRow>::of(scans).columns(|_| true).timeline()?;
    let mut spread = Rows::<SpreadRow>::of(scans).columns(|_| true).timeline()?;
    let mut merged = 0;
    while let Some(start_ns) = windows.next_ns() {
        // By dataset and observer.
        let mut parts: BTreeMap<(usize, String), Part> = BTreeMap::new();
        for (dataset, row) in windows.take(start_ns)? {
            let part = parts.entry((dataset, row.observer.as_str().to_owned())).or_default();
            part.windows.push(row);
        }
        for (dataset, row) in flows.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.flows.push(row);
            }
        }
        for (dataset, row) in opcodes.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.opcodes.push(row);
            }
        }
        for (dataset, row) in spread.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.spread.push(row);
            }
        }
        let parts: Vec<Part> = parts.into_values().collect();
        let rows: WindowRows = match merge_window(&parts, target) {
            Ok(rows) => rows,
            Err(error) => bail!("the window at {}: {error}", rocescope_model::Time(start_ns)),
        };
        writer.append(&rows, Instant::now())?;
        merged += 1;
    }
    Ok(merged)
}
