//! `rocescope report`: summarizes a dataset.
//!
//! Segments are read one after another, in the order of their windows, and rows are dropped after
//! they are counted, so `rocescope_report` bounds the memory.

use super::diagnose::{hosts, incidents};
use super::paths::held;
use super::readable::readable;
use super::span::{self, CONNECTIONS_NS};
use crate::arguments::{By, Format, ReportArguments, ReportTable};
use crate::rows;
use anyhow::{Context, Result, bail};
use rocescope_analysis::collectives::diagnosis;
use rocescope_analysis::incidents::analyzer_of;
use rocescope_analysis::owners::time_of;
use rocescope_collective::read::nccl_debug::Ranks;
use rocescope_model::hosts::Hosts;
use rocescope_model::{
    ConnectionRow, CounterRow, EventRow, FLOW_PATH_TABLES, FlowRow, GroupBy, LinkRow, LoopbackRow, OpcodeRow, PdcRow,
    ProbeRow, QueuePairRow, Revised, Revisions, Row, SlaRow, StepRow, VerdictRow, WindowRow, footer,
};
use rocescope_report::collect::{CollectiveFigures, OwnedBy};
use rocescope_report::{Collector, Origin, Report, Scope, collect, html, json, markdown, tables, text};
use rocescope_store::{Query, Rows, Scan, TimeRange};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let source = readable(&arguments.inputs)?;
    let root = &source.root;
    let time = span::range(&arguments.span)?;
    let found = span::open(root, time, time.extended(CONNECTIONS_NS), arguments.resolution)?;
    let is_captured = span::answered(&found).is_empty();
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
    let stored = [FLOW_PATH_TABLES, &[QueuePairRow::TABLE]].concat();
    let stored = Query::default().tables(&stored).open(root)?;
    let mut report = collect((&found, &stored), scope, || Origin {
        dataset: source.name.clone(),
        ..origin(root, arguments.observer.as_deref(), &names, &found)
    })?;
    // Analyses read what was captured: seconds show what an hour hides.
    if is_captured {
        report.incidents = Some(incidents::of(root, time, &names)?);
        report.host_faults = hosts::faults(root, time, &names)?;
    }
    report.collective = collective(&found)?;
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

/// The collective of the dataset that took longest.
fn collective(found: &Scan) -> Result<Option<CollectiveFigures>> {
    if found.row_count(StepRow::TABLE.name) == 0 {
        return Ok(None);
    }
    let analysis = diagnosis::diagnose(found, None, diagnosis::names(found, Ranks::default())?)?;
    Ok(Some(CollectiveFigures::of(&analysis)))
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

/// Reads the rows of the scope. `stored` has the tables of other times too: the runs of paths, and queue pairs that were written
/// before.
pub(super) fn collect(
    (found, stored): (&Scan, &Scan),
    scope: Scope,
    origin: impl FnOnce() -> Origin,
) -> Result<Report> {
    let time = TimeRange {
        from: scope.from,
        to: scope.to,
    };
    let observer = scope.observer.clone();
    let observer = observer.as_deref();
    let mut collector = Collector::new(scope)?;
    // Runs have names of their own. They come first: the flows of windows have the rates of their flows.
    let has_paths = held::collect(stored, time, &mut collector)?;
    let later = time.extended(CONNECTIONS_NS);
    // Of all hosts: whose a connection is does not depend on who captured it.
    for rows in stored.select::<QueuePairRow>().within(time_of(later)).batches() {
        collector.queue_pairs(&rows?);
    }
    let mut windows = selected::<WindowRow>(found, observer, time).timeline()?;
    let mut flows = selected::<FlowRow>(found, observer, time).timeline()?;
    let mut opcodes = selected::<OpcodeRow>(found, observer, time).timeline()?;
    while let Some(start_ns) = windows.next_ns() {
        collector.window(
            &unnumbered(windows.take(start_ns)?),
            &unnumbered(flows.take(start_ns)?),
            &unnumbered(opcodes.take(start_ns)?),
        );
    }
    for rows in selected::<EventRow>(found, observer, time).batches() {
        collector.events(rows?);
    }
    for rows in selected::<ConnectionRow>(found, observer, later).batches() {
        collector.connections(rows?);
    }
    for rows in selected::<PdcRow>(found, observer, time).batches() {
        collector.pdcs(&rows?);
    }
    for rows in selected::<ProbeRow>(found, observer, time).batches() {
        collector.probes(&rows?);
    }
    // One analyzer of several: all of them cover the same probes of all hosts.
    let analyzer = analyzer_of(found);
    let analyzer = analyzer.as_deref();
    let revisions = found.revisions(time)?;
    let analyses = found.select::<SlaRow>().within(time);
    for rows in analyses.written_by(analyzer).batches() {
        collector.sla(&latest(rows?, &revisions));
    }
    let verdicts = found.select::<VerdictRow>().within(time);
    for rows in verdicts.written_by(analyzer).batches() {
        collector.verdicts(&latest(rows?, &revisions));
    }
    let links = found.select::<LinkRow>().within(time);
    for rows in links.written_by(analyzer).batches() {
        collector.links(&latest(rows?, &revisions));
    }
    for rows in selected::<CounterRow>(found, observer, time).batches() {
        collector.counters(&rows?);
    }
    for rows in selected::<LoopbackRow>(found, observer, time).batches() {
        collector.loopback(&rows?);
    }
    // Reading may have found damage.
    let mut report = collector.finish(origin());
    // The paths of another time are about the traffic of this one: without any there is nothing to report.
    if !has_paths && report.is_empty() {
        report.paths = None;
    }
    Ok(report)
}

/// The rows of a table in this time range, of one observer or of all.
pub(super) fn selected<'a, R: Row>(found: &'a Scan, observer: Option<&str>, time: TimeRange) -> Rows<'a, R> {
    found.select().within(time).observers(observer)
}

/// The rows of the latest analysis of each window.
fn latest<R: Revised>(mut rows: Vec<R>, revisions: &Revisions) -> Vec<R> {
    rows.retain(|row| revisions.has(row));
    rows
}

fn unnumbered<R>(numbered: Vec<(usize, R)>) -> Vec<R> {
    numbered.into_iter().map(|(_, row)| row).collect()
}

pub(super) fn origin(root: &Path, observer: Option<&str>, hosts: &Hosts, found: &Scan) -> Origin {
    let of = |key: &str| -> BTreeSet<String> {
        let segments = found
            .segments
            .iter()
            .filter(|segment| observer.is_none_or(|only| segment.footer(footer::OBSERVER) == Some(only)));
        let values: BTreeSet<&str> = segments.filter_map(|s| s.footer(key)).collect();
        let values = values.into_iter().take(collect::MAX_NAMES);
        values.map(String::from).collect()
    };
    let answered = span::answered(found);
    let damaged = found.damaged();
    let unreadable = damaged.iter();
    Origin {
        answered,
        dataset: root.display().to_string(),
        sources: of(footer::SOURCE),
        modes: of(footer::MODE),
        clocks: of(footer::CLOCK_SOURCE),
        unreadable: unreadable
            .map(|file| (file.path.display().to_string(), file.reason.clone()))
            .collect(),
        open_segments: found.open.len(),
        hosts: hosts.clone(),
    }
}

/// The error for an unknown observer, with the known ones.
pub(super) fn unknown(observer: &str, found: &Scan) -> Result<()> {
    let names = found.segments.iter();
    let names: BTreeSet<&str> = names.filter_map(|s| s.footer(footer::OBSERVER)).collect();
    if names.contains(observer) {
        return Ok(());
    }
    let names: Vec<&str> = names.into_iter().take(collect::MAX_NAMES).collect();
    bail!("unknown observer {observer}; the dataset has {}", names.join(", "));
}
