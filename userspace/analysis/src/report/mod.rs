//! A dataset, or a time of it, as the data of all documents: rows in, a [`Report`] out.
//!
//! Segments are read one after another, in the order of their windows, and rows are dropped after they are counted, so
//! `rocescope_report` bounds the memory.

mod held;
mod resolution;

pub use resolution::{answered, is_captured, kept_incidents, open};

use crate::Error;
use crate::collectives::diagnosis;
use crate::hosts::diagnosis as of_hosts;
use crate::incidents::dataset::diagnose;
use crate::incidents::{Settings, analyzer_of};
use crate::owners::time_of;
use rocescope_collective::read::nccl_debug::Ranks;
use rocescope_diagnose::hosts;
use rocescope_diagnose::incidents::Document;
use rocescope_model::hosts::Hosts;
use rocescope_model::{
    ConnectionRow, CounterRow, EventRow, FLOW_PATH_TABLES, FlowRow, LinkRow, LoopbackRow, OpcodeRow, PdcRow, ProbeRow,
    QueuePairRow, Resolution, Revised, Revisions, Row, SlaRow, StepRow, SwitchDropRow, SwitchPortRow, VerdictRow,
    WindowRow, footer,
};
use rocescope_report::collect::{CollectiveFigures, MAX_NAMES};
use rocescope_report::{Collector, HostFaults, Origin, Report, Scope};
use rocescope_store::query::LastOfEach;
use rocescope_store::{Query, Rows, Scan, TimeRange};
use std::collections::BTreeSet;
use std::path::Path;

/// A connection writes its next row within a minute; its last row may be later.
pub const CONNECTIONS_NS: i64 = 3_600_000_000_000;

/// Reads the rows of the scope, and runs every analysis that they allow. `name` is what the reader calls the dataset;
/// `asked` is the coarsest resolution of rollups that may answer, by default what fits the length of the time.
///
/// # Errors
/// The dataset cannot be read, or the filter fits no table.
pub fn of(root: &Path, name: &str, scope: Scope, names: &Hosts, asked: Option<Resolution>) -> Result<Report, Error> {
    let time = TimeRange {
        from: scope.from,
        to: scope.to,
    };
    let observer = scope.observer.clone();
    let found = open(root, time, time.extended(CONNECTIONS_NS), asked)?;
    let stored = [FLOW_PATH_TABLES, &[QueuePairRow::TABLE]].concat();
    let stored = Query::default().tables(&stored).open(root)?;
    let mut report = collect((&found, &stored), scope, || Origin {
        dataset: name.to_owned(),
        ..origin(root, observer.as_deref(), names, &found)
    })?;
    report.incidents = Some(incidents_of(root, time, names, &found)?);
    if is_captured(&found) {
        report.host_faults = faults(root, time, names)?;
    }
    report.collective = collective(&found)?;
    Ok(report)
}

/// The incidents of a time of a dataset: judged where captured rows answer for it, otherwise those that the dataset keeps.
///
/// # Errors
/// The dataset cannot be read.
pub fn incidents_of(root: &Path, time: TimeRange, names: &Hosts, found: &Scan) -> Result<Document, Error> {
    match is_captured(found) {
        true => incidents(root, time, names),
        false => kept_incidents(root, time),
    }
}

/// The incidents of a dataset in a time.
///
/// # Errors
/// The dataset cannot be read.
pub fn incidents(root: &Path, time: TimeRange, names: &Hosts) -> Result<Document, Error> {
    diagnose(&Settings {
        dataset: root.to_owned(),
        time,
        names: names.clone(),
        topology: None,
    })
}

/// The faults that a dataset shows in a time; `None` if it has no counters of hosts, and the captured
/// traffic alone shows none.
fn faults(root: &Path, time: TimeRange, names: &Hosts) -> Result<Option<HostFaults>, Error> {
    let found = of_hosts::open(root, time)?;
    if of_hosts::rows(&found) == 0 {
        return Ok(None);
    }
    let Some(document) = of_hosts::diagnose(&found, time, hosts::Settings::default().window_ns, names, None)? else {
        return Ok(None);
    };
    let has_counters = found.row_count(CounterRow::TABLE.name) > 0;
    Ok((has_counters || !document.verdicts.is_empty()).then_some(HostFaults {
        verdicts: document.verdicts,
        unknown: document.unknown,
    }))
}

/// The collective of the dataset that took longest.
fn collective(found: &Scan) -> Result<Option<CollectiveFigures>, Error> {
    if found.row_count(StepRow::TABLE.name) == 0 {
        return Ok(None);
    }
    let analysis = diagnosis::diagnose(found, None, diagnosis::names(found, Ranks::default())?)?;
    Ok(Some(CollectiveFigures::of(&analysis)))
}

/// Reads the rows of the scope. `stored` has the tables of other times too: the runs of paths, and queue pairs that were written
/// before.
pub fn collect(
    (found, stored): (&Scan, &Scan),
    scope: Scope,
    origin: impl FnOnce() -> Origin,
) -> Result<Report, Error> {
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
    // All rows: the silence between two of them shows whether a connection is over.
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
    for rows in selected::<SwitchPortRow>(found, observer, time).batches() {
        collector.switch_ports(&rows?);
    }
    for rows in selected::<SwitchDropRow>(found, observer, time).batches() {
        collector.switch_drops(&rows?);
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
pub fn selected<'a, R: Row>(found: &'a Scan, observer: Option<&str>, time: TimeRange) -> Rows<'a, R> {
    found.select().within(time).observers(observer)
}

/// Of rows of connections, which hold totals, the last of each direction in these times.
#[must_use]
pub const fn last_totals(time: TimeRange, other: Option<TimeRange>) -> LastOfEach {
    LastOfEach {
        object: &["observer", "connection", "role"],
        time,
        other,
    }
}

/// The rows of the latest analysis of each window.
fn latest<R: Revised>(mut rows: Vec<R>, revisions: &Revisions) -> Vec<R> {
    rows.retain(|row| revisions.has(row));
    rows
}

fn unnumbered<R>(numbered: Vec<(usize, R)>) -> Vec<R> {
    numbered.into_iter().map(|(_, row)| row).collect()
}

/// The dataset as the source of a report: what the footers of its segments state.
#[must_use]
pub fn origin(root: &Path, observer: Option<&str>, hosts: &Hosts, found: &Scan) -> Origin {
    let of = |key: &str| -> BTreeSet<String> {
        let segments = found
            .segments
            .iter()
            .filter(|segment| observer.is_none_or(|only| segment.footer(footer::OBSERVER) == Some(only)));
        let values: BTreeSet<&str> = segments.filter_map(|s| s.footer(key)).collect();
        let values = values.into_iter().take(MAX_NAMES);
        values.map(String::from).collect()
    };
    let damaged = found.damaged();
    let unreadable = damaged.iter();
    Origin {
        answered: answered(found),
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
