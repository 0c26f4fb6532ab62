//! `rocescope diagnose hosts`: the counters of hosts and the captured traffic of a dataset, joined.
//!
//! | module | what it does |
//! |---|---|
//! | `text` | the output as text |

mod text;

use crate::arguments::{DiagnoseHostsArguments, Output};
use crate::commands::span;
use anyhow::{Context, Result, anyhow, bail, ensure};
use rocescope_analysis::dataset;
use rocescope_diagnose::hosts::{Analyzer, Change, Counts, HostVerdict, HostsWindow, Settings, Unknown};
use rocescope_model::hosts::Hosts;
use rocescope_model::{CounterRow, FlowRow, HOST_DIAGNOSIS_TABLES, HostVerdictRow, Row, Text, footer, json};
use rocescope_report::HostFaults;
use rocescope_store::{Options, Query, Scan, TimeRange, Writer};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

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
    let writer = arguments.write.then(|| writer(arguments, &found)).transpose()?;
    let sink = Sink::new(writer, &arguments.observer, time);
    let names = arguments.hosts.names();
    let Some(diagnosis) = judge(&found, time, window_ns, &names, sink)? else {
        // Values from before the requested time are read too, and are no reason to say that there is no fault in it.
        let nothing = span::nothing(root, &arguments.span)?;
        return Err(nothing.unwrap_or_else(|| anyhow!("{} has no whole window", root.display())));
    };
    crate::print(&match arguments.output {
        Output::Table => names.text(&text::document(&diagnosis)),
        Output::Json => names.json(&(json::pretty(&diagnosis) + "\n")),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The faults that a dataset shows in a time, for the report; `None` if it has no counters of hosts, and the captured
/// traffic alone shows none.
pub(in crate::commands) fn faults(root: &Path, time: TimeRange, names: &Hosts) -> Result<Option<HostFaults>> {
    let found = open(root, time)?;
    if rows(&found) == 0 {
        return Ok(None);
    }
    let sink = Sink::new(None, "", time);
    let Some(diagnosis) = judge(&found, time, Settings::default().window_ns, names, sink)? else {
        return Ok(None);
    };
    let has_counters = found.row_count(CounterRow::TABLE.name) > 0;
    Ok((has_counters || !diagnosis.verdicts.is_empty()).then_some(HostFaults {
        verdicts: diagnosis.verdicts,
        unknown: diagnosis.unknown,
    }))
}

fn open(root: &Path, time: TimeRange) -> Result<Scan> {
    Ok(Query::default().within(dataset::reach::<Analyzer>(time)).open(root)?)
}

/// The diagnosis of a time; `None` if it has no window.
fn judge(found: &Scan, time: TimeRange, window_ns: i64, names: &Hosts, mut sink: Sink) -> Result<Option<Diagnosis>> {
    let settings = Settings {
        window_ns,
        ..Settings::default()
    };
    let mut analyzer = Analyzer::new(settings)?;
    for (address, host) in names.iter() {
        analyzer.know(address, host);
    }
    dataset::hours(&mut analyzer, found, time, |_, window| sink.take(window))?;
    if sink.from_ns.is_none() {
        return Ok(None);
    }
    sink.finish(&analyzer, found).map(Some)
}

fn rows(found: &Scan) -> u64 {
    found.row_count(CounterRow::TABLE.name) + found.row_count(FlowRow::TABLE.name)
}

/// The content of the output.
#[derive(Debug, Serialize)]
struct Diagnosis {
    /// One for each fault, in the order in which they began.
    verdicts: Vec<HostVerdict>,
    /// What could not be judged, and why.
    unknown: Vec<Unknown>,
    #[serde(flatten)]
    counts: Counts,
    /// The analyzed time: start of the first window, end of the last.
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    window_ns: i64,
    unreadable_files: Vec<String>,
    open_segments: usize,
}

/// Collects and writes the verdicts.
struct Sink {
    writer: Option<Writer>,
    observer: Text,
    time: TimeRange,
    verdicts: Vec<HostVerdict>,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    window_ns: i64,
}

impl Sink {
    fn new(writer: Option<Writer>, observer: &str, time: TimeRange) -> Self {
        Self {
            writer,
            observer: String::from(observer).into(),
            time,
            verdicts: Vec::new(),
            from_ns: None,
            to_ns: None,
            window_ns: 0,
        }
    }

    fn take(&mut self, window: HostsWindow) -> Result<()> {
        self.window_ns = window.end_ns - window.start_ns;
        if self.is_before(window.end_ns) {
            return Ok(());
        }
        self.from_ns = self.from_ns.or(Some(window.start_ns));
        self.to_ns = Some(window.end_ns);
        for verdict in window.changes {
            self.add(verdict, window.end_ns)?;
        }
        Ok(())
    }

    /// Whether an instant is not after the start of the requested time.
    fn is_before(&self, time_ns: i64) -> bool {
        self.time.from.is_some_and(|from| time_ns <= from.0)
    }

    fn add(&mut self, verdict: HostVerdict, time_ns: i64) -> Result<()> {
        // It was over before the requested time.
        if self.is_before(verdict.until_ns) {
            return Ok(());
        }
        if let Some(writer) = &mut self.writer {
            writer.append_cells(&vec![verdict.row(&self.observer, time_ns)], Instant::now())?;
        }
        match self.verdicts.iter_mut().rev().find(|known| verdict.continues(known)) {
            Some(known) => *known = verdict,
            None => self.verdicts.push(verdict),
        }
        Ok(())
    }

    fn finish(mut self, analyzer: &Analyzer, found: &Scan) -> Result<Diagnosis> {
        let end_ns = self.to_ns.unwrap_or_default();
        for verdict in analyzer.open_faults() {
            self.add(verdict, end_ns)?;
        }
        if let Some(writer) = self.writer {
            writer.finish()?;
        }
        self.verdicts.sort_by_key(|verdict| verdict.since_ns);
        let damaged = found.damaged();
        let unreadable = damaged
            .iter()
            .map(|file| format!("{}: {}", file.path.display(), file.reason));
        Ok(Diagnosis {
            unknown: analyzer.unknowns(),
            counts: analyzer.counts(),
            verdicts: self.verdicts,
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            window_ns: self.window_ns,
            unreadable_files: unreadable.collect(),
            open_segments: found.open.len(),
        })
    }
}

impl Diagnosis {
    /// Faults that have not ended.
    fn open(&self) -> usize {
        self.verdicts
            .iter()
            .filter(|verdict| verdict.state != Change::Ended)
            .count()
    }
}

fn writer(arguments: &DiagnoseHostsArguments, found: &Scan) -> Result<Writer> {
    let observer = &arguments.observer;
    let mut before = found.table(HostVerdictRow::TABLE.name);
    if before.any(|segment| segment.footer(footer::OBSERVER) == Some(observer)) {
        bail!("the dataset already has a diagnosis by {observer}: choose another --observer");
    }
    let options = Options {
        tables: HOST_DIAGNOSIS_TABLES,
        ..Options::new(observer)
    };
    Ok(Writer::create(&arguments.dataset, options)?)
}
