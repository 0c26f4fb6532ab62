//! `rocescope diagnose`: the incidents of capture files or of a dataset.

use crate::arguments::{DiagnoseArguments, Format, Grouping};
use crate::commands::readable::readable;
use crate::commands::report::terminal_width;
use crate::commands::span;
use crate::rows;
use anyhow::{Context, Result, bail, ensure};
use rocescope_analysis::incidents::Settings;
use rocescope_analysis::incidents::dataset::{diagnose, write};
use rocescope_analysis::incidents::history::by_place;
use rocescope_runtime::clock::now;
use rocescope_store::TimeRange;
use std::process::ExitCode;

pub(super) fn run(arguments: &DiagnoseArguments) -> Result<ExitCode> {
    ensure!(
        !arguments.inputs.is_empty(),
        "no input: name a dataset or capture files; `rocescope diagnose mesh|hosts|hostping|collective` is one analysis alone"
    );
    let source = readable(&arguments.inputs)?;
    ensure!(
        source.is_dataset() || !arguments.write,
        "--write adds incidents to a dataset, and {} is none: `rocescope capture -r FILE --out DATASET` makes one",
        source.name
    );
    let time = span::range(&arguments.span)?;
    let names = arguments.hosts.names();
    if arguments.by == Some(Grouping::Place) {
        let places = by_place(&source.root, time)?;
        let places = places.with_context(|| {
            format!(
                "{} keeps no incidents{}: `rocescope collector run --diagnose` writes them as they happen, and `rocescope diagnose \
                 DATASET --write` what it finds",
                source.name,
                if time == TimeRange::default() { "" } else { " of this time" }
            )
        })?;
        crate::print(&match arguments.output {
            Format::Table => names.text(&places.text()),
            Format::Json => names.json(&places.json()),
            _ => bail!("--by place prints no rows of a table: `-o table` or `-o json`"),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let document = diagnose(&Settings {
        dataset: source.root.clone(),
        time,
        names: (*names).clone(),
        topology: arguments.topology.clone(),
    })?;
    if document.judged.is_empty()
        && let Some(nothing) = span::nothing(&source.root, &arguments.span)?
    {
        return Err(nothing);
    }
    if arguments.write {
        write(&source.root, &document, &arguments.observer, now().0)?;
    }
    crate::print(&match arguments.output {
        Format::Table => names.text(&document.text(terminal_width())),
        Format::Json => names.json(&document.json()),
        format => rows::text(&document.rows(&arguments.observer, now().0), format, &names),
    })?;
    source.check()?;
    Ok(ExitCode::SUCCESS)
}
