//! `rocescope dataset verify`: compares every file of a dataset with its checksums, and its tables with each other.

use crate::arguments::{Output, VerifyArguments};
use anyhow::Result;
use rocescope_model::human::plural;
use rocescope_model::{FlowRow, OpcodeRow, Row, WindowRow, json};
use rocescope_report::Agreement;
use rocescope_rollup::verify::{Compared, compare};
use rocescope_store::{Scan, Verified};
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(arguments: &VerifyArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let verified = rocescope_store::verify(root)?;
    let agreement = agreement(&rocescope_store::open(root)?)?;
    let resolutions = compare(root)?;
    let is_whole = verified.problems.is_empty() && agreement.holds() && resolutions.problems.is_empty();
    crate::print(&match arguments.output {
        Output::Table => text(&verified, &agreement, &resolutions)?,
        Output::Json => document(&verified, &agreement, &resolutions),
    })?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compares the tables window by window.
fn agreement(found: &Scan) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    let mut windows = found.select::<WindowRow>().timeline()?;
    let mut flows = found.select::<FlowRow>().timeline()?;
    let mut opcodes = found.select::<OpcodeRow>().timeline()?;
    while let Some(start_ns) = windows.next_ns() {
        agreement.window(
            &rows(windows.take(start_ns)?),
            &rows(flows.take(start_ns)?),
            &rows(opcodes.take(start_ns)?),
        );
    }
    Ok(agreement)
}

fn rows<R: Row>(numbered: Vec<(usize, R)>) -> Vec<R> {
    numbered.into_iter().map(|(_, row)| row).collect()
}

fn text(verified: &Verified, agreement: &Agreement, resolutions: &Compared) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for problem in &verified.problems {
        writeln!(text, "damaged    {}: {}", problem.path.display(), problem.reason)?;
    }
    for problem in agreement.problems().iter().chain(&resolutions.problems) {
        writeln!(text, "contradict {problem}")?;
    }
    for path in &verified.unverified {
        writeln!(text, "unverified {}: written without checksums", path.display())?;
    }
    if resolutions.partitions > 0 {
        let partitions = plural(resolutions.partitions, "partition");
        writeln!(text, "rollups    of {partitions} compared with what they are made of")?;
    }
    let problems = verified.problems.len() + agreement.problems().len() + resolutions.problems.len();
    writeln!(
        text,
        "{}, {}, {}, {}: {}",
        plural(verified.segments, "segment"),
        plural(verified.journals, "journal"),
        plural(verified.rows, "row"),
        plural(agreement.windows, "window"),
        match problems {
            0 => "no problems".to_owned(),
            problems => plural(problems as u64, "problem"),
        }
    )?;
    Ok(text)
}

#[derive(Serialize)]
struct Document<'a> {
    whole: bool,
    segments: u64,
    journals: u64,
    rows: u64,
    windows: u64,
    damaged: Vec<Damaged<'a>>,
    contradictions: Vec<String>,
    rolled_up_partitions: u64,
    unverified: Vec<String>,
}

#[derive(Serialize)]
struct Damaged<'a> {
    path: String,
    reason: &'a str,
}

fn document(verified: &Verified, agreement: &Agreement, resolutions: &Compared) -> String {
    let damaged = verified.problems.iter().map(|problem| Damaged {
        path: problem.path.display().to_string(),
        reason: &problem.reason,
    });
    let document = Document {
        whole: verified.problems.is_empty() && agreement.holds() && resolutions.problems.is_empty(),
        segments: verified.segments,
        journals: verified.journals,
        rows: verified.rows,
        windows: agreement.windows,
        damaged: damaged.collect(),
        contradictions: [agreement.problems(), resolutions.problems.clone()].concat(),
        rolled_up_partitions: resolutions.partitions,
        unverified: verified
            .unverified
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
    };
    json::pretty(&document) + "\n"
}
