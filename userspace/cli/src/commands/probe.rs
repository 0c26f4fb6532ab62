//! `rocescope probe`: the prober of a host, alone. `rocescope agent` runs the same [`Prober`].

use crate::arguments::{Output, ProbeArguments};
use anyhow::{Context, Result};
use rocescope_agent::probes::{Opened, ProbeSettings, Prober};
use rocescope_host::privileges;
use rocescope_runtime::cost::Cost;
use rocescope_runtime::signals::Signals;
use std::process::ExitCode;

pub(super) fn run(arguments: &ProbeArguments) -> Result<ExitCode> {
    // First, because parsing the command line needs the most memory.
    let mut cost = Cost::new()?;
    let signals = Signals::install()?;
    let settings = ProbeSettings::from(arguments);
    let opened = Opened::open(&settings, 0)?;
    // From here on the process has no privileges; everything it needs is open.
    privileges::drop_all().context("capabilities")?;
    let mut prober = opened.start(&settings, None)?;
    cost.shrink()?;
    prober.run(&signals, None, &mut cost, None)?;
    finish(prober, arguments.output)?;
    Ok(ExitCode::SUCCESS)
}

/// Seals the dataset, prints the summary, and checks the counters.
pub(super) fn finish(mut prober: Prober, output: Output) -> Result<()> {
    let summary = prober.finish()?;
    crate::print(&match output {
        Output::Table => summary.text(),
        Output::Json => summary.json(),
    })?;
    Ok(summary.check()?)
}
