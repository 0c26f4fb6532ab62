//! The table `loopback`, written and read.

use super::print;
use crate::arguments::{DiagnoseHostpingArguments, Output};
use crate::commands::span;
use anyhow::{Result, ensure};
use rocescope_analysis::hostping::{HostRun, Tests};
use rocescope_analysis::{Analysis, Reads};
use rocescope_diagnose::hostping::Document;
use rocescope_diagnose::hostping::join::Insides;
use rocescope_model::{Cells, LOOPBACK_TABLES, LoopbackRow, Row, SlaRow, Time, VerdictRow, json};
use rocescope_store::{Options, Query, TimeRange, Writer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::slice;
use std::time::Instant;

/// Adds the rows of a run to a dataset.
pub(in crate::commands) fn write(root: &Path, rows: &dyn Cells, observer: &str) -> Result<()> {
    let options = Options {
        tables: LOOPBACK_TABLES,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options)?;
    writer.append_cells(rows, Instant::now())?;
    writer.finish()?;
    Ok(())
}

/// A run of `rocescope diagnose hostping` in JSON.
#[derive(Serialize)]
struct RunJson {
    observer: String,
    time: String,
    /// Verdicts of the probe mesh on NICs of the host.
    hostmesh: Vec<MeshJson>,
    #[serde(flatten)]
    document: Document,
}

/// A verdict of the probe mesh on a NIC, joined with the tests of its host.
#[derive(Clone, Serialize)]
struct MeshJson {
    nic: String,
    class: String,
    sentence: String,
    hostping: String,
}

/// The last verdict on each NIC that loopback tests show something of.
fn of_mesh(root: &Path, time: TimeRange, insides: &Insides) -> Result<Vec<MeshJson>> {
    let tables = [SlaRow::TABLE, VerdictRow::TABLE];
    let found = Query::default().tables(&tables).within(time).open(root)?;
    let revisions = found.revisions(time)?;
    let mut last: BTreeMap<String, VerdictRow> = BTreeMap::new();
    for row in found.rows::<VerdictRow>()? {
        if !revisions.has(&row) {
            continue;
        }
        let Some(nic) = row.nic.as_deref().filter(|_| &*row.place_kind == "nic") else {
            continue;
        };
        let is_newer = |known: &VerdictRow| known.window_start_ns <= row.window_start_ns;
        if last.get(nic).is_none_or(is_newer) {
            last.insert(nic.to_owned(), row);
        }
    }
    let joined = last.into_iter().filter_map(|(nic, row)| {
        Some(MeshJson {
            hostping: insides.behind(&nic)?,
            class: row.class.to_string(),
            sentence: row.sentence.to_string(),
            nic,
        })
    });
    Ok(joined.collect())
}

/// The verdicts on NICs of a host.
fn of_host<'a>(mesh: &'a [MeshJson], host: &'a str) -> impl Iterator<Item = &'a MeshJson> {
    let is_of = move |verdict: &&MeshJson| verdict.nic.rsplit_once('/').is_some_and(|(of, _)| of == host);
    mesh.iter().filter(is_of)
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
    let mesh = of_mesh(root, time, &Insides::of(all.clone(), arguments.rule.rule()))?;
    let mut tests = Tests::new(arguments.observer.clone(), arguments.rule.rule());
    all.iter().for_each(|row| tests.row(row));
    let mut documents = Vec::new();
    while let Some(HostRun {
        observer,
        start_ns,
        run,
        diagnosis,
    }) = tests.finish()
    {
        let time = format!("{:.0}", Time(start_ns));
        if arguments.output == Output::Table {
            crate::print(&format!("{observer}, {time}\n"))?;
            print(&run.topology, &run.measured, &diagnosis, Output::Table)?;
            for verdict in of_host(&mesh, &observer) {
                let MeshJson {
                    class,
                    sentence,
                    hostping,
                    ..
                } = verdict;
                crate::print(&format!("hostmesh   {class}: {sentence}\n           {hostping}\n"))?;
            }
        }
        documents.push(RunJson {
            hostmesh: of_host(&mesh, &observer).cloned().collect(),
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
