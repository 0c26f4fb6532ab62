//! `rocescope diagnose`: what is wrong, or one analysis alone. Here: `diagnose mesh`.

mod hosts;
mod incidents;

use super::span;
use crate::arguments::{DiagnoseAction, DiagnoseArguments, HostmeshArguments, Output};
use anyhow::{Context, Result, ensure};
use rocescope_analysis::dataset;
use rocescope_analysis::mesh::diagnosis::{self, Settings};
use rocescope_diagnose::hostmesh::{self, Analyzer};
use rocescope_model::{ProbeRow, Row};
use rocescope_store::Query;
use std::process::ExitCode;
use std::slice;
use std::time::Duration;

pub(super) fn run(arguments: &DiagnoseArguments) -> Result<ExitCode> {
    match &arguments.action {
        None => incidents::run(arguments),
        Some(DiagnoseAction::Hostmesh(arguments)) => mesh(arguments),
        Some(DiagnoseAction::Hosts(arguments)) => hosts::run(arguments),
        Some(DiagnoseAction::Collective(arguments)) => super::collective::diagnose::run(arguments),
        Some(DiagnoseAction::Hostping(arguments)) => super::hostping::dataset::diagnose(arguments),
    }
}

fn mesh(arguments: &HostmeshArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let settings = settings(arguments)?;
    let found = Query::default()
        .within(dataset::reach::<Analyzer>(settings.time))
        .open(root)?;
    span::require::<ProbeRow>(&[root.as_path()], slice::from_ref(&found), &arguments.span)?;
    ensure!(
        found.row_count(ProbeRow::TABLE.name) > 0,
        "{} has no rows in `probes`: `rocescope probe --out` writes them",
        root.display()
    );
    let document = diagnosis::diagnose(&found, &settings)?;
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Table => hosts.text(&document.text()),
        Output::Json => hosts.json(&document.json()),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn settings(arguments: &HostmeshArguments) -> Result<Settings> {
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).context("duration too long");
    let of_mesh = hostmesh::Settings {
        window_ns: nanos(arguments.window)?,
        sticky_ns: nanos(arguments.sticky)?,
        max_ignored: arguments.most_ignored,
        ..hostmesh::Settings::default()
    };
    Ok(Settings {
        dataset: arguments.dataset.clone(),
        time: span::range(&arguments.span)?,
        observer: arguments.observer.clone(),
        of_mesh,
        topology: arguments.topology.clone(),
        write: arguments.write,
    })
}
