//! `rocescope merge`: merges the datasets of several boxes, window by window.

use super::span;
use crate::arguments::MergeArguments;
use anyhow::{Context, Result, bail, ensure};
use rocescope_model::human::plural;
use rocescope_model::{
    ConnectionRow, EventRow, FlowRow, OpcodeRow, PdcRow, Row, SpreadRow, Text, WindowRow, WindowRows, footer,
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
    span::require::<WindowRow>(&roots, &scans, &arguments.span)?;
    refuse_repeated(&scans)?;
    let observer: Text = arguments.observer.clone().into();
    let parameters = parameters(&scans)?;
    let mut pairs = parameters.footer();
    pairs.extend(origin(arguments));
    let mut writer = Writer::create(
        out,
        Options {
            metadata: pairs,
            ..Options::new(&arguments.observer)
        },
    )?;
    // The writer has sealed what a killed merge left.
    refuse_merged(&scans, out, &observer)?;
    hand_on::<EventRow>(&scans, &mut writer, |row| {
        row.observer.clone_from(&observer);
    })?;
    // Connection numbers are unique for each observer, so these rows keep its name.
    hand_on::<ConnectionRow>(&scans, &mut writer, |_| {})?;
    // Each saw its own part of the packets: sums would count those twice that several saw.
    hand_on::<PdcRow>(&scans, &mut writer, |_| {})?;
    let target = Target {
        observer,
        elephant_bps: parameters.elephant_bps(),
    };
    let windows = windows(&scans, &target, &mut writer)?;
    let summary = writer.finish()?;
    let damaged: Vec<Unreadable> = scans.iter().flat_map(Scan::damaged).collect();
    for unreadable in &damaged {
        let path = unreadable.path.display();
        notes.push_str(&format!("skipped  {path}: {}\n", unreadable.reason));
    }
    let rows = |table| summary.table(table).rows;
    notes.push_str(&format!(
        "{}: {} from {}, {}, {}, {}\n",
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

/// The parameters that all segments share.
fn parameters(scans: &[Scan]) -> Result<Parameters> {
    let mut merged: Option<Parameters> = None;
    for segment in scans.iter().flat_map(|scan| &scan.segments) {
        let these = Parameters::of(|key| segment.footer(key));
        match &mut merged {
            None => merged = Some(these),
            Some(merged) => merged
                .join(&these)
                .with_context(|| segment.path.display().to_string())?,
        }
    }
    merged.context("the datasets have no segments")
}

fn origin(arguments: &MergeArguments) -> [(String, String); 2] {
    let names = arguments.datasets.iter();
    let names: Vec<String> = names.map(|root| root.display().to_string()).collect();
    [
        (footer::SOURCE.into(), names.join(", ")),
        (footer::MODE.into(), "merge".into()),
    ]
}

/// Copies the rows of a table, each after `change`.
///
/// These tables come first: the store guarantees that a window in `windows` is complete in every table.
fn hand_on<R: Row>(scans: &[Scan], writer: &mut Writer, change: impl Fn(&mut R)) -> Result<()> {
    for rows in Rows::<R>::of(scans).columns(|_| true).batches() {
        let mut rows = rows?;
        rows.iter_mut().for_each(&change);
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
