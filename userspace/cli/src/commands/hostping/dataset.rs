//! The table `loopback`, written and read.

use super::print;
use crate::arguments::{DiagnoseHostpingArguments, Output};
use crate::commands::host_name::host_name;
use crate::commands::span;
use anyhow::{Result, ensure};
use rocescope_diagnose::hostping::rows::{Run, rows, runs};
use rocescope_diagnose::hostping::{Document, Judge, Judgement, Matrix, Topology};
use rocescope_model::{LOOPBACK_TABLES, LoopbackRow, Row, Time, json};
use rocescope_store::{Options, Query, Writer};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::slice;
use std::time::{Instant, SystemTime};

/// Adds a run to a dataset.
pub(super) fn write(
    root: &Path,
    observer: Option<&str>,
    topology: &Topology,
    measured: &Matrix,
    judgement: &Judgement,
) -> Result<()> {
    let observer = observer.map_or_else(host_name, |name| Ok(name.to_owned()))?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let start_ns = i64::try_from(now.as_nanos())?;
    let rows = rows(topology, measured, judgement, &observer, start_ns);
    let options = Options {
        tables: LOOPBACK_TABLES,
        ..Options::new(&observer)
    };
    let mut writer = Writer::create(root, options)?;
    writer.append_cells(&rows, Instant::now())?;
    writer.finish()?;
    Ok(())
}

/// A run of `rocescope diagnose hostping` in JSON.
#[derive(Serialize)]
struct RunJson {
    observer: String,
    time: String,
    #[serde(flatten)]
    document: Document,
}

#[derive(Serialize)]
struct RunsJson {
    runs: Vec<RunJson>,
}

/// `rocescope diagnose hostping`: the last run of each host.
pub(in crate::commands) fn diagnose(arguments: &DiagnoseHostpingArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let time = span::range(&arguments.span)?;
    let found = Query::default().within(time).open(root)?;
    span::require::<LoopbackRow>(&[root.as_path()], slice::from_ref(&found), &arguments.span)?;
    let mut all = found.rows::<LoopbackRow>()?;
    if let Some(observer) = &arguments.observer {
        all.retain(|row| *row.observer == **observer);
    }
    ensure!(
        !all.is_empty(),
        "{} has no rows in `{}` for this host and time: `rocescope hostping diagnose --out` writes them",
        root.display(),
        LoopbackRow::TABLE.name
    );
    let mut last: Vec<(String, i64, Vec<LoopbackRow>)> = Vec::new();
    for run in runs(all) {
        last.retain(|(host, ..)| *host != run.0);
        last.push(run);
    }
    let mut documents = Vec::new();
    for (observer, start_ns, rows) in last {
        let run = Run::of(&rows);
        let judge = Judge {
            topology: &run.topology,
            baseline: Some(&run.baseline),
            rule: arguments.rule.rule(),
            busy: &run.busy,
        };
        let diagnosis = judge.diagnose(&run.measured);
        let time = format!("{:.0}", Time(start_ns));
        if arguments.output == Output::Table {
            crate::print(&format!("{observer}, {time}\n"))?;
            print(&run.topology, &run.measured, &diagnosis, Output::Table)?;
        }
        documents.push(RunJson {
            observer,
            time,
            document: Document::of(&run.topology, &run.measured, &diagnosis),
        });
    }
    if arguments.output == Output::Json {
        crate::print(&(json::pretty(&RunsJson { runs: documents }) + "\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
