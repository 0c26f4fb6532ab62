//! `rocescope paths flows`: the flows of a workload.

use super::workload;
use crate::arguments::{FlowsArguments, Output};
use crate::commands::topology;
use anyhow::Result;
use rocescope_model::human::visible_lines;
use rocescope_paths::document::flows::{document, text};
use std::process::ExitCode;

pub(super) fn run(arguments: &FlowsArguments) -> Result<ExitCode> {
    let topology = arguments.topology.as_deref().map(topology::read_and_warn).transpose()?;
    let fabric = topology.map(|topology| topology.fabric());
    let (workload, short) = workload::read(&arguments.workload, fabric.as_ref())?;
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&document(&workload, &short)),
        Output::Table => visible_lines(&hosts.text(&text(&workload, &short))),
    })?;
    Ok(ExitCode::SUCCESS)
}
