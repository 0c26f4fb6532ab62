//! `rocescope paths advise`: which source ports would make the layers even.

use super::{discover, workload};
use crate::arguments::{AdviseArguments, Output};
use anyhow::{Result, ensure};
use rocescope_model::human::visible_lines;
use rocescope_paths::Flow;
use rocescope_paths::document::advice::{Advised, candidates};
use rocescope_paths::document::flows::notes;
use rocescope_paths::transport::INTERRUPTED;
use std::process::ExitCode;

pub(super) fn run(arguments: &AdviseArguments) -> Result<ExitCode> {
    let plan = discover::plan(&arguments.ask)?;
    let (workload, short) = workload::read(&arguments.workload, Some(&plan.fabric))?;
    ensure!(!workload.flows.is_empty(), "the workload has no flows");
    let count = usize::from(arguments.candidates);
    let flows: Vec<Flow> = workload.flows.iter().map(|rated| rated.flow).collect();
    let asked: Vec<Flow> = flows.iter().flat_map(|flow| candidates(flow, count)).collect();
    let run = discover::ask(&arguments.ask, &plan, &asked)?;
    let is_whole = run.traces.iter().all(|trace| trace.outcome.reason != INTERRUPTED);
    ensure!(is_whole, "interrupted: a part of the answers gives no advice");
    let advised = Advised::new(&plan, &flows, &run.traces, count);
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&advised.document(&workload, &short)),
        Output::Table => visible_lines(&hosts.text(&(advised.text() + &notes(&workload, &short)))),
    })?;
    Ok(match advised.flows() {
        0 => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}
