//! `rocescope paths fim`: flows per link, and the Flow Imbalance Metric of each layer.

use super::input::{self, Which};
use crate::arguments::{FimArguments, Output, SpanArguments};
use crate::commands::{span, topology};
use anyhow::{Result, anyhow, ensure};
use rocescope_analysis::paths::document::fim::{document, text};
use rocescope_analysis::paths::document::windows::each;
use rocescope_analysis::paths::measured::measure;
use rocescope_model::LINK_LOAD_TABLES;
use rocescope_model::human::visible_lines;
use rocescope_paths::document::rows::link_loads;
use rocescope_runtime::clock::now;
use rocescope_store::{Options, Writer};
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &FimArguments) -> Result<ExitCode> {
    let time = span::range(&arguments.span)?;
    let which = match (arguments.span == SpanArguments::default(), arguments.windows) {
        (true, _) => Which::Newest,
        (false, false) => Which::Within(time),
        (false, true) => Which::HeldIn(time),
    };
    let fabric = topology::read_and_warn(&arguments.topology)?.fabric();
    input::ensure_links(&fabric, &arguments.topology)?;
    let run = input::read(&arguments.paths, which)?;
    let measured = measure(&fabric, &run);
    ensure!(
        !arguments.windows || arguments.paths.is_dir(),
        "--windows needs a dataset with the tables `flows` and `flow_paths`, and {} is a file",
        arguments.paths.display()
    );
    let mut rows = Vec::new();
    let windows = match arguments.windows {
        true => Some(each(
            &fabric,
            &arguments.paths,
            time,
            |start_ns, window_ns, imbalance| {
                if arguments.out.is_some() {
                    rows.extend(link_loads(&arguments.observer, start_ns, window_ns, imbalance));
                }
            },
        )?),
        false => None,
    };
    if windows.as_ref().is_some_and(Vec::is_empty) {
        let nothing = span::nothing(&arguments.paths, &arguments.span)?;
        return Err(nothing.unwrap_or_else(|| anyhow!("{} has no windows of flows", arguments.paths.display())));
    }
    if let Some(root) = &arguments.out {
        if windows.is_none() {
            let time = run.time.unwrap_or_else(now);
            rows = link_loads(&arguments.observer, time.0, 0, &measured.imbalance);
        }
        let options = Options {
            tables: LINK_LOAD_TABLES,
            ..Options::new(&arguments.observer)
        };
        let mut writer = Writer::create(root, options)?;
        writer.append_cells(&rows, Instant::now())?;
        writer.finish()?;
    }
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&document(&run, &measured, windows.as_deref())),
        Output::Table => visible_lines(&hosts.text(&text(&run, &measured, windows.as_deref(), arguments.top))),
    })?;
    Ok(ExitCode::SUCCESS)
}
