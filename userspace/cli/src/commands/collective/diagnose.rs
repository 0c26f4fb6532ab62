//! `rocescope diagnose collective`: which step, flow and port made a collective slow.

use super::files;
use crate::arguments::{CollectiveOutput, DiagnoseCollectiveArguments};
use crate::commands::span;
use anyhow::{Context, Result, ensure};
use rocescope_analysis::collectives::diagnosis::{diagnose, failed, names};
use rocescope_analysis::collectives::samples::samples;
use rocescope_collective::analysis::Analysis;
use rocescope_collective::document::Document;
use rocescope_collective::dot::dot;
use rocescope_collective::read::nccl_debug::{self, Ranks};
use rocescope_collective::read::nccl_failures;
use rocescope_collective::trace::{Sample, Trace};
use rocescope_model::{Row, StepRow, TelemetryRow, json};
use rocescope_store::Query;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::Path;
use std::process::ExitCode;
use std::slice;

const MINUTE_NS: i64 = 60_000_000_000;

pub(in crate::commands) fn run(arguments: &DiagnoseCollectiveArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let time = span::range(&arguments.span)?;
    let found = Query::default().within(time).open(root)?;
    let has = |table: &str| found.row_count(table) > 0;
    let log = arguments
        .nccl_debug
        .as_deref()
        .map(files::read)
        .transpose()?
        .unwrap_or_default();
    let offset_ns = arguments.nccl_utc_offset.0.saturating_mul(MINUTE_NS);
    let failures = nccl_failures::read(&log, offset_ns);
    ensure!(
        has(StepRow::TABLE.name) || has(TelemetryRow::TABLE.name) || !failures.all.is_empty(),
        "{} has no rows in `steps` or `telemetry`: `rocescope collective import` writes them",
        root.display()
    );
    if has(StepRow::TABLE.name) {
        span::require::<StepRow>(&[root.as_path()], slice::from_ref(&found), &arguments.span)?;
    }
    let mut ranks = match log.is_empty() {
        false => nccl_debug::read(&log),
        true => Ranks::default(),
    };
    let complaints = mem::take(&mut ranks.complaints);
    let mut analysis = diagnose(&found, arguments.collective.as_deref(), names(&found, ranks)?)?;
    failed(&found, failures, &mut analysis)?;
    analysis.complaints.append(complaints);
    for file in found.damaged() {
        let reason = format!("unreadable: {}", file.reason);
        analysis.complaints.add(&reason, file.path.display());
    }
    if let Some(path) = &arguments.trace {
        let written = trace(path, &analysis, &samples(&found, &analysis.steps)?);
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    crate::print(&match arguments.output {
        CollectiveOutput::Table => Document::of(&analysis).text(),
        CollectiveOutput::Json => json::pretty(&Document::of(&analysis)) + "\n",
        CollectiveOutput::Dot => dot(&analysis),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn trace(path: &Path, analysis: &Analysis, samples: &[Sample]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write!(file, "{}", Trace::of(analysis, samples))?;
    file.flush()
}
