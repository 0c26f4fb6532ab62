//! `rocescope diagnose`: analyzes the rows of a dataset. Here: `diagnose hostmesh`.
//!
//! | module | what it does |
//! |---|---|
//! | `findings` | merges verdicts of many windows into problems |
//! | `text`, `json` | the output |
//! | `hosts` | `diagnose hosts`: counters of hosts and captured traffic |

mod findings;
pub(super) mod hosts;
mod json;
mod text;

use super::span;
use crate::arguments::{DiagnoseAction, DiagnosisOutput, HostmeshArguments};
use anyhow::{Context, Result, bail, ensure};
use findings::Finding;
use rocescope_analysis::cores::at_once;
use rocescope_analysis::mesh::affected::Affected;
use rocescope_analysis::topology::{self, Wiring};
use rocescope_analysis::{Input, dataset};
use rocescope_diagnose::hostmesh::counted::Counted;
use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_diagnose::hostping::Rule;
use rocescope_diagnose::hostping::join::Insides;
use rocescope_model::{
    CounterRow, DIAGNOSIS_TABLES, LoopbackRow, PathRow, ProbeRow, Row, SlaRow, Time, VerdictRow, footer,
};
use rocescope_store::{Options, Query, Scan, Writer};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::slice;
use std::time::{Duration, Instant};

pub(super) fn run(action: &DiagnoseAction) -> Result<ExitCode> {
    let arguments = match action {
        DiagnoseAction::Hostmesh(arguments) => arguments,
        DiagnoseAction::Hosts(arguments) => return hosts::run(arguments),
        DiagnoseAction::Collective(arguments) => return super::collective::diagnose::run(arguments),
        DiagnoseAction::Hostping(arguments) => return super::hostping::dataset::diagnose(arguments),
    };
    let root = &arguments.dataset;
    let time = span::range(&arguments.span)?;
    let found = Query::default().within(dataset::reach::<Analyzer>(time)).open(root)?;
    span::require::<ProbeRow>(&[root.as_path()], slice::from_ref(&found), &arguments.span)?;
    ensure!(
        found.row_count(ProbeRow::TABLE.name) > 0,
        "{} has no rows in `probes`: `rocescope probe --out` writes them",
        root.display()
    );
    let (mut analyzer, wiring) = analyzer(arguments)?;
    let mut sink = Sink::new(arguments, wiring, &found)?;
    dataset::hours(&mut analyzer, &found, time, |analyzer, window| {
        sink.take(analyzer, window)
    })?;
    let mut diagnosis = sink.finish(&analyzer, &found)?;
    let tests = Query::default().tables(&[LoopbackRow::TABLE]).open(root)?;
    let mut counted = Counted::new(diagnosis.findings.iter().filter_map(Finding::nic));
    if !counted.is_empty() {
        Input::new::<CounterRow>().read(&mut counted, &found, time)?;
    }
    findings::join(
        &mut diagnosis.findings,
        &Insides::of(tests.rows::<LoopbackRow>()?, Rule::SEED),
        &counted,
    );
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        DiagnosisOutput::Text => hosts.text(&text::document(&diagnosis)),
        DiagnosisOutput::Json => hosts.json(&json::document(&diagnosis)),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The content of the output.
#[derive(Debug, Default)]
struct Diagnosis {
    windows: Vec<SlaRow>,
    /// The verdicts of all windows, and the problems they form.
    verdicts: Vec<VerdictRow>,
    findings: Vec<Finding>,
    links_learnt: usize,
    links_crossed: usize,
    /// Links that no probe of the last window crossed, as `from>to`.
    uncrossed: Vec<String>,
    /// Links of the topology file that no probe of the last window crossed; none without such a file.
    unprobed: Option<Vec<String>>,
    paths: u64,
    traces_cut_short: u64,
    unreadable_rows: u64,
    /// In the last window: share of 5-tuples without a return path over the same links.
    asymmetric_ratio: Option<f64>,
    /// Unreadable files, with the reason.
    unreadable: Vec<String>,
    open_segments: usize,
    /// Whether the dataset has captured flows.
    has_flows: bool,
}

/// Collects and writes the diagnosis of each window.
struct Sink<'a> {
    wiring: Option<Wiring>,
    writer: Option<Writer>,
    affected: Affected<'a>,
    diagnosis: Diagnosis,
}

impl<'a> Sink<'a> {
    fn new(arguments: &HostmeshArguments, wiring: Option<Wiring>, found: &'a Scan) -> Result<Self> {
        let writer = if arguments.write {
            Some(writer(arguments, found)?)
        } else {
            None
        };
        Ok(Self {
            wiring,
            writer,
            affected: Affected::new(found, &arguments.dataset)?,
            diagnosis: Diagnosis::default(),
        })
    }

    fn take(&mut self, analyzer: &Analyzer, diagnosis: WindowDiagnosis) -> Result<()> {
        let links = analyzer.link_rows(&diagnosis);
        if let Some(writer) = &mut self.writer {
            let now = Instant::now();
            writer.append_cells(&links, now)?;
            writer.append_cells(&diagnosis.verdicts, now)?;
            writer.append_cells(&vec![diagnosis.sla.clone()], now)?;
        }
        let crossed = links.iter().filter(|link| link.probes > 0);
        self.diagnosis.asymmetric_ratio = diagnosis.sla.asymmetric_ratio;
        self.diagnosis.links_learnt = links.len();
        self.diagnosis.links_crossed = crossed.count();
        let uncrossed = links.iter().filter(|link| link.probes == 0);
        self.diagnosis.uncrossed = uncrossed.map(|link| format!("{}>{}", link.from, link.to)).collect();
        self.diagnosis.unprobed = self.wiring.as_ref().map(|wiring| wiring.unprobed(&links));
        let flows = self.affected.flows(analyzer, &diagnosis)?;
        findings::add(&mut self.diagnosis.findings, &diagnosis, flows);
        self.diagnosis.verdicts.extend(diagnosis.verdicts);
        self.diagnosis.windows.push(diagnosis.sla);
        Ok(())
    }

    fn finish(mut self, analyzer: &Analyzer, found: &Scan) -> Result<Diagnosis> {
        if let Some(writer) = self.writer {
            writer.finish()?;
        }
        let damaged = found.damaged();
        let unreadable = damaged.iter();
        self.diagnosis.unreadable = unreadable
            .map(|file| format!("{}: {}", file.path.display(), file.reason))
            .collect();
        self.diagnosis.open_segments = found.open.len();
        self.diagnosis.paths = found.row_count(PathRow::TABLE.name);
        self.diagnosis.traces_cut_short = analyzer.traces_cut_short();
        self.diagnosis.unreadable_rows = analyzer.unreadable();
        self.diagnosis.has_flows = self.affected.has_flows();
        Ok(self.diagnosis)
    }
}

fn writer(arguments: &HostmeshArguments, found: &Scan) -> Result<Writer> {
    let observer = &arguments.observer;
    let tables = DIAGNOSIS_TABLES.iter().flat_map(|table| found.table(table.name));
    let mut before = tables.filter(|segment| segment.footer(footer::OBSERVER) == Some(observer));
    if before.next().is_some() {
        bail!("the dataset already has a diagnosis by {observer}: choose another --observer");
    }
    let options = Options {
        tables: DIAGNOSIS_TABLES,
        ..Options::new(observer)
    };
    Ok(Writer::create(&arguments.dataset, options)?)
}

fn analyzer(arguments: &HostmeshArguments) -> Result<(Analyzer, Option<Wiring>)> {
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).context("duration too long");
    let settings = Settings {
        window_ns: nanos(arguments.window)?,
        sticky_ns: nanos(arguments.sticky)?,
        max_ignored: arguments.most_ignored,
        ..Settings::default()
    };
    let settings = settings.scaled(arguments.scale.into());
    let mut analyzer = Analyzer::new(settings, arguments.observer.clone())?.with(at_once);
    let wiring = arguments
        .topology
        .as_deref()
        .map(|path| topology::read(path, &mut analyzer));
    Ok((analyzer, wiring.transpose()?))
}

/// The observer with the most rows in `sla`; the first by name of several.
pub(super) fn analyzer_of(found: &Scan) -> Option<String> {
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for segment in found.table(SlaRow::TABLE.name) {
        if let Some(observer) = segment.footer(footer::OBSERVER) {
            *rows.entry(observer).or_default() += segment.rows;
        }
    }
    let most = rows.values().copied().max()?;
    let mut names = rows.into_iter();
    let first = names.find(|(_, rows)| *rows == most)?;
    Some(first.0.to_owned())
}

/// An instant to the second.
fn second(ns: i64) -> String {
    format!("{:.0}", Time(ns))
}
