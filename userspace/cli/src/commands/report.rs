//! `rocescope report`: summarizes a dataset.

use super::readable::readable;
use super::span;
use crate::arguments::{By, Format, ReportArguments, ReportTable};
use crate::rows;
use anyhow::{Context, Result, bail};
use rocescope_analysis::report;
use rocescope_model::{GroupBy, footer};
use rocescope_report::collect::{MAX_NAMES, OwnedBy};
use rocescope_report::{Scope, html, json, markdown, tables, text};
use rocescope_store::Scan;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;

pub(super) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let source = readable(&arguments.inputs)?;
    let root = &source.root;
    let time = span::range(&arguments.span)?;
    let scope = Scope {
        top: arguments.top,
        from: time.from,
        to: time.to,
        by: by(arguments),
        owned_by: match arguments.by {
            Some(By::Owner(by)) => by,
            _ => OwnedBy::default(),
        },
        observer: arguments.observer.clone(),
        filter: arguments.filter.clone(),
    };
    let names = arguments.hosts.names();
    let report = report::of(root, &source.name, scope, &names, arguments.resolution)?;
    if let Some(observer) = &arguments.observer
        && report.observers.is_empty()
        && report.mesh.is_none()
    {
        unknown(observer, &rocescope_store::scan(root)?)?;
    }
    if report.is_empty()
        && report.mesh.is_none()
        && report.loopback.is_none()
        && report.paths.is_none()
        && report.collective.is_none()
        && let Some(nothing) = span::nothing(root, &arguments.span)?
    {
        return Err(nothing);
    }
    if let Some(path) = &arguments.html {
        std::fs::write(path, html::document(&report)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let output = match (arguments.output, &arguments.html) {
        (None, Some(_)) => {
            source.check()?;
            return Ok(ExitCode::SUCCESS);
        }
        (output, _) => output.unwrap_or(Format::Table),
    };
    crate::print(&match output {
        Format::Table => text::document(&report, terminal_width()),
        Format::Markdown => markdown::document(&report),
        Format::Json => report.origin.hosts.json(&json::document(&report)),
        format @ (Format::Csv | Format::Jsonl) => tables::table(&report, table(arguments.table), |cells| {
            rows::text(cells, format, &report.origin.hosts)
        }),
    })?;
    source.check()?;
    Ok(ExitCode::SUCCESS)
}

/// What traffic is grouped by; the table of groups needs one.
fn by(arguments: &ReportArguments) -> Option<GroupBy> {
    let is_table =
        matches!(arguments.output, Some(Format::Csv | Format::Jsonl)) && arguments.table == ReportTable::Groups;
    match arguments.by {
        Some(By::Traffic(by)) => Some(by),
        _ => is_table.then(GroupBy::default),
    }
}

const fn table(table: ReportTable) -> tables::Table {
    match table {
        ReportTable::Flows => tables::Table::Flows,
        ReportTable::Groups => tables::Table::Groups,
        ReportTable::Connections => tables::Table::Connections,
        ReportTable::Pdcs => tables::Table::Pdcs,
        ReportTable::Opcodes => tables::Table::Opcodes,
        ReportTable::Events => tables::Table::Events,
        ReportTable::Windows => tables::Table::Windows,
        ReportTable::Pairs => tables::Table::Pairs,
        ReportTable::Sla => tables::Table::Sla,
        ReportTable::Verdicts => tables::Table::Verdicts,
        ReportTable::Links => tables::Table::Links,
    }
}

/// Columns of the terminal, if standard output is a terminal.
pub(super) fn terminal_width() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(size.ws_col.into()).filter(|width| *width > 0)
}

/// The error for an unknown observer, with the known ones.
pub(super) fn unknown(observer: &str, found: &Scan) -> Result<()> {
    let names = found.segments.iter();
    let names: BTreeSet<&str> = names.filter_map(|s| s.footer(footer::OBSERVER)).collect();
    if names.contains(observer) {
        return Ok(());
    }
    let names: Vec<&str> = names.into_iter().take(MAX_NAMES).collect();
    bail!("unknown observer {observer}; the dataset has {}", names.join(", "));
}
