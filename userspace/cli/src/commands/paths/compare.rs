//! `rocescope paths compare`: the loads of links and the paths of two runs.

use super::input::{self, Which};
use crate::arguments::{ComparePathsArguments, Output};
use crate::commands::topology;
use anyhow::Result;
use rocescope_analysis::paths::document::comparison::Compared;
use rocescope_analysis::paths::measured::measure;
use rocescope_model::human::visible_lines;
use std::process::ExitCode;

pub(super) fn run(arguments: &ComparePathsArguments) -> Result<ExitCode> {
    let fabric = topology::read_and_warn(&arguments.topology)?.fabric();
    input::ensure_links(&fabric, &arguments.topology)?;
    let which = |number: Option<u16>| number.map_or(Which::Newest, Which::Number);
    let a = input::read(&arguments.a, which(arguments.run_a))?;
    let b = input::read(&arguments.b, which(arguments.run_b))?;
    let [of_a, of_b] = [&a, &b].map(|run| measure(&fabric, run));
    let compared = Compared::new([(&a, &of_a), (&b, &of_b)]);
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&compared.document()),
        Output::Table => visible_lines(&hosts.text(&compared.text(arguments.top))),
    })?;
    Ok(ExitCode::SUCCESS)
}
