//! `rocescope dataset merge`: merges the datasets of several boxes and hosts: windows one by one, other tables by copying
//! their rows.

use crate::arguments::MergeArguments;
use crate::commands::span;
use anyhow::{Result, bail, ensure};
use rocescope_analysis::incidents::stated_sampling;
use rocescope_engine::merge::{self, other_tables};
use rocescope_model::human::plural;
use rocescope_model::{CAPTURE_TABLES, Text, WindowRow, footer};
use rocescope_pipeline::merge::{Parameters, Target};
use rocescope_report::Agreement;
use rocescope_store::{Options, Query, Rows, Scan, Unreadable, Writer};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
                "left     open segments in {root}: in use, or need `rocescope dataset repair`\n"
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
    let parameters = merge::parameters(&scans)?;
    ensure!(has_others || parameters.is_some(), "the datasets have no rows to merge");
    let mut pairs = parameters.as_ref().map(Parameters::footer).unwrap_or_default();
    pairs.extend(origin(arguments));
    // Losses of a merged dataset are as unknown as those of the mirror that samples most.
    let sampling = scans.iter().filter_map(stated_sampling).max();
    pairs.extend(sampling.map(|one_of| (footer::MIRROR_SAMPLING.into(), one_of.to_string())));
    let mut writer = Writer::create(
        out,
        Options {
            metadata: pairs,
            tables: if parameters.is_some() { CAPTURE_TABLES } else { &[] },
            ..Options::new(&arguments.observer)
        },
    )?;
    // The writer has sealed what a killed merge left.
    merge::refuse_merged(&scans, out, &observer)?;
    merge::events(&scans, &observer, &mut writer)?;
    let copied = other_tables::copy(&scans, &mut writer)?;
    let target = Target {
        observer,
        elephant_bps: parameters.as_ref().map_or(f64::INFINITY, Parameters::elephant_bps),
    };
    let windows = merge::windows(&scans, &target, &mut writer)?;
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

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        // A path that does not exist yet differs from the other.
        _ => false,
    }
}

fn origin(arguments: &MergeArguments) -> [(String, String); 2] {
    let names = arguments.datasets.iter();
    let names: Vec<String> = names.map(|root| root.display().to_string()).collect();
    [
        (footer::SOURCE.into(), names.join(", ")),
        (footer::MODE.into(), "merge".into()),
    ]
}
