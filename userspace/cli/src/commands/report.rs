//! `rocescope report`: a dataset summed up.
//!
//! Segments are read one after another, in the order of their windows, and rows are dropped once
//! they are counted: what stays is what `rocescope_report` bounds.

use super::diagnose::analyzer_of;
use crate::arguments::{ReportArguments, ReportOutput, ReportTable};
use crate::timeline::Timeline;
use anyhow::{Context, Result, bail, ensure};
use rocescope_model::{
    Column, ConnectionRow, EventRow, FlowRow, LinkRow, OpcodeRow, ProbeRow, Row, SlaRow, Time,
    Type, VerdictRow, WindowRow, footer,
};
use rocescope_report::{
    Collector, Origin, Report, Scope, collect, csv, html, json, markdown, text,
};
use rocescope_store::{Scan, Segment};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Nanoseconds of a partition.
const HOUR_NS: i64 = 3_600_000_000_000;

pub(super) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    if let (Some(from), Some(to)) = (arguments.from, arguments.to) {
        ensure!(from < to, "--from must be earlier than --to");
    }
    let found = rocescope_store::open(root)?;
    let scope = Scope {
        top: arguments.top,
        from: arguments.from,
        to: arguments.to,
        observer: arguments.observer.clone(),
        filter: arguments.filter.clone(),
    };
    let report = collect(&found, scope, origin(arguments, &found))?;
    if let Some(observer) = &arguments.observer
        && report.observers.is_empty()
        && report.mesh.is_none()
    {
        unknown(observer, &found)?;
    }
    if let Some(path) = &arguments.html {
        std::fs::write(path, html::document(&report))
            .with_context(|| path.display().to_string())?;
    }
    let output = match (arguments.output, &arguments.html) {
        (None, Some(_)) => return Ok(ExitCode::SUCCESS),
        (output, _) => output.unwrap_or(ReportOutput::Text),
    };
    crate::print(&match output {
        ReportOutput::Text => text::document(&report, terminal_width()),
        ReportOutput::Markdown => markdown::document(&report),
        ReportOutput::Json => json::document(&report),
        ReportOutput::Csv => csv::table(&report, table(arguments.table)),
    })?;
    Ok(ExitCode::SUCCESS)
}

const fn table(table: ReportTable) -> csv::Table {
    match table {
        ReportTable::Flows => csv::Table::Flows,
        ReportTable::Connections => csv::Table::Connections,
        ReportTable::Opcodes => csv::Table::Opcodes,
        ReportTable::Events => csv::Table::Events,
        ReportTable::Windows => csv::Table::Windows,
        ReportTable::Pairs => csv::Table::Pairs,
        ReportTable::Sla => csv::Table::Sla,
        ReportTable::Verdicts => csv::Table::Verdicts,
        ReportTable::Links => csv::Table::Links,
    }
}

/// Columns of the terminal, if standard output is one.
fn terminal_width() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(size.ws_col.into()).filter(|width| *width > 0)
}

/// Reads what the scope may need.
fn collect(found: &Scan, scope: Scope, origin: Origin) -> Result<Report> {
    let (from, to) = (scope.from, scope.to);
    let hours = |behind_ns: i64| {
        let to = to.map(|to| Time(to.0.saturating_add(behind_ns)));
        move |segment: &&Segment| lies_within(segment, from, to)
    };
    let mut collector = Collector::new(scope)?;
    let wanted = |column: &Column| column.kind != Type::Bytes;
    let segments = || {
        found
            .segments
            .iter()
            .filter(hours(0))
            .map(|segment| (0, segment))
    };
    let mut windows = Timeline::<WindowRow>::of(segments(), wanted)?;
    let mut flows = Timeline::<FlowRow>::of(segments(), wanted)?;
    let mut opcodes = Timeline::<OpcodeRow>::of(segments(), wanted)?;
    while let Some(start_ns) = windows.next_ns() {
        collector.window(
            &rows(windows.take(start_ns)?),
            &rows(flows.take(start_ns)?),
            &rows(opcodes.take(start_ns)?),
        );
    }
    each::<EventRow>(found, hours(0), |rows| collector.events(rows))?;
    // A connection writes its next row within a minute, and that may be in the next hour.
    each::<ConnectionRow>(found, hours(HOUR_NS), |rows| collector.connections(rows))?;
    each::<ProbeRow>(found, hours(0), |rows| collector.probes(&rows))?;
    // Of several analyses one: they are of the same probes.
    let analyzer = analyzer_of(found);
    let by_it = |segment: &&Segment| segment.footer(footer::OBSERVER) == analyzer.as_deref();
    let of_it = |segment: &&Segment| by_it(segment) && hours(0)(segment);
    each::<SlaRow>(found, of_it, |rows| collector.sla(&rows))?;
    each::<VerdictRow>(found, of_it, |rows| collector.verdicts(&rows))?;
    each::<LinkRow>(found, of_it, |rows| collector.links(&rows))?;
    Ok(collector.finish(origin))
}

fn rows<R>(numbered: Vec<(usize, R)>) -> Vec<R> {
    numbered.into_iter().map(|(_, row)| row).collect()
}

/// Hands the rows of a table on, a batch at a time, hour by hour.
fn each<R: Row>(
    found: &Scan,
    wanted: impl Fn(&&Segment) -> bool,
    mut take: impl FnMut(Vec<R>),
) -> Result<()> {
    let mut segments: Vec<&Segment> = found.table(R::TABLE.name).filter(wanted).collect();
    segments.sort_by(|a, b| a.partition.cmp(&b.partition));
    for segment in segments {
        for batch in segment.batches(|column| column.kind != Type::Bytes)? {
            let rows = batch?.typed::<R>();
            take(rows.with_context(|| segment.path.display().to_string())?);
        }
    }
    Ok(())
}

/// Whether the hour of a segment, which holds all its rows, reaches into the time asked for.
fn lies_within(segment: &Segment, from: Option<Time>, to: Option<Time>) -> bool {
    // A name that is not an hour's may hold anything.
    let Some(hour) = hour(&segment.partition) else {
        return true;
    };
    from.is_none_or(|from| hour.0.saturating_add(HOUR_NS) > from.0)
        && to.is_none_or(|to| hour.0 < to.0)
}

/// Start of the hour that `date=YYYY-MM-DD/hour=HH` names.
fn hour(partition: &str) -> Option<Time> {
    let (date, hour) = partition.strip_prefix("date=")?.split_once("/hour=")?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let mut part = || parts.next()?.ok();
    let day = Time::from_date(part()?, part()?, part()?)?;
    let hours = hour.parse::<i64>().ok()?.checked_mul(HOUR_NS)?;
    Some(Time(day.0.checked_add(hours)?))
}

fn origin(arguments: &ReportArguments, found: &Scan) -> Origin {
    let of = |key: &str| -> BTreeSet<String> {
        let segments = found.segments.iter().filter(|segment| {
            let only = arguments.observer.as_deref();
            only.is_none_or(|only| segment.footer(footer::OBSERVER) == Some(only))
        });
        let values: BTreeSet<&str> = segments.filter_map(|s| s.footer(key)).collect();
        let values = values.into_iter().take(collect::MOST_NAMES);
        values.map(String::from).collect()
    };
    let unreadable = found.unreadable.iter();
    Origin {
        dataset: arguments.dataset.display().to_string(),
        sources: of(footer::SOURCE),
        modes: of(footer::MODE),
        clocks: of(footer::CLOCK_SOURCE),
        unreadable: unreadable
            .map(|file| (file.path.display().to_string(), file.reason.clone()))
            .collect(),
        open_segments: found.open.len(),
    }
}

/// Says which capture points there are instead.
fn unknown(observer: &str, found: &Scan) -> Result<()> {
    let names = found.segments.iter();
    let names: BTreeSet<&str> = names.filter_map(|s| s.footer(footer::OBSERVER)).collect();
    if names.contains(observer) {
        return Ok(());
    }
    let names: Vec<&str> = names.into_iter().take(collect::MOST_NAMES).collect();
    bail!(
        "no capture point is called {observer}; there are: {}",
        names.join(", ")
    );
}

#[cfg(test)]
mod tests {
    use super::hour;
    use rocescope_model::Time;

    #[test]
    fn partitions_name_their_hour() {
        let time = Time(1_795_226_400_000_000_000);
        assert_eq!(hour("date=2026-11-21/hour=02"), Some(time));
        assert_eq!(hour("date=2026-11-21"), None);
        assert_eq!(hour("date=x/hour=02"), None);
    }
}
