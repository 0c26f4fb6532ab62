//! `rocescope diagnose hosts`: the counters of hosts and the captured traffic of a dataset, joined.

use crate::arguments::{DiagnoseHostsArguments, Output};
use crate::commands::span;
use anyhow::{Context, Result, anyhow, ensure};
use rocescope_analysis::hosts::diagnosis::{diagnose, open, rows};
use std::process::ExitCode;

pub(super) fn run(arguments: &DiagnoseHostsArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    let time = span::range(&arguments.span)?;
    let found = open(root, time)?;
    if let (0, Some(nothing)) = (rows(&found), span::nothing(root, &arguments.span)?) {
        return Err(nothing);
    }
    ensure!(
        rows(&found) > 0,
        "{} has no rows in `counters` and `flows`: `rocescope counters --out` and `rocescope capture --out` write them{}{}",
        root.display(),
        span::unsealed(&found),
        span::damage(&found)
    );
    let window_ns = i64::try_from(arguments.window.as_nanos()).context("duration too long")?;
    let write = arguments.write.then_some((root.as_path(), arguments.observer.as_str()));
    let names = arguments.hosts.names();
    let Some(document) = diagnose(&found, time, window_ns, &names, write)? else {
        // Values from before the requested time are read too, and are no reason to say that there is no fault in it.
        let nothing = span::nothing(root, &arguments.span)?;
        return Err(nothing.unwrap_or_else(|| anyhow!("{} has no whole window", root.display())));
    };
    crate::print(&match arguments.output {
        Output::Table => names.text(&document.text()),
        Output::Json => names.json(&document.json()),
    })?;
    Ok(ExitCode::SUCCESS)
}
