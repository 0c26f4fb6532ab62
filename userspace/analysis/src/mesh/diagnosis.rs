//! The diagnosis of a mesh over a time of a dataset.

use super::affected::Affected;
use crate::cores::at_once;
use crate::topology::{self, Wiring};
use crate::{Error, Input, dataset};
use rocescope_diagnose::hostmesh::counted::Counted;
use rocescope_diagnose::hostmesh::document::Finding;
use rocescope_diagnose::hostmesh::traffic_class::TrafficClasses;
use rocescope_diagnose::hostmesh::{self, Analyzer, Document, WindowDiagnosis};
use rocescope_diagnose::hostping::Rule;
use rocescope_diagnose::hostping::join::Insides;
use rocescope_model::{ConnectionRow, CounterRow, DIAGNOSIS_TABLES, LoopbackRow, PathRow, Row};
use rocescope_store::{Options, Query, Scan, TimeRange, Writer};
use std::path::PathBuf;
use std::time::Instant;

/// What to analyze, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The dataset.
    pub dataset: PathBuf,
    /// The time.
    pub time: TimeRange,
    /// The name in the rows of the analysis.
    pub observer: String,
    /// Settings of the analysis.
    pub of_mesh: hostmesh::Settings,
    /// The topology file.
    pub topology: Option<PathBuf>,
    /// Whether the rows are written into the dataset.
    pub write: bool,
}

/// Analyzes a time; `found` must be of [`dataset::reach`] and of all tables.
///
/// # Errors
/// The settings or the topology file are invalid, or the dataset cannot be read or written.
pub fn diagnose(found: &Scan, settings: &Settings) -> Result<Document, Error> {
    let mut analyzer = Analyzer::new(settings.of_mesh, settings.observer.clone())?.with(at_once);
    let path = settings.topology.as_deref();
    let wiring = path.map(|path| topology::read(path, &mut analyzer)).transpose()?;
    let mut sink = Sink {
        wiring,
        writer: settings.write.then(|| writer(settings, found)).transpose()?,
        affected: Affected::new(found, &settings.dataset)?,
        document: Document::default(),
    };
    dataset::hours(&mut analyzer, found, settings.time, |analyzer, window| {
        sink.push(analyzer, window)
    })?;
    let mut document = sink.finish(&analyzer, found)?;
    let tests = Query::default().tables(&[LoopbackRow::TABLE]).open(&settings.dataset)?;
    let mut counted = Counted::new(document.findings.iter().filter_map(Finding::nic));
    if !counted.is_empty() {
        Input::new::<CounterRow>().read(&mut counted, found, settings.time)?;
    }
    let mut classes = TrafficClasses::default();
    let captured = Query::default()
        .tables(&[ConnectionRow::TABLE])
        .open(&settings.dataset)?;
    captured
        .select::<ConnectionRow>()
        .within(settings.time)
        .for_each(|row: ConnectionRow| classes.add(row.data_dscp.as_deref().unwrap_or_default(), row.payload_bytes))?;
    if !classes.is_captured() {
        Input::new::<CounterRow>().read(&mut classes, found, settings.time)?;
    }
    document.unprobed_classes = classes.warning(&analyzer.dscps());
    document.join(&Insides::of(tests.rows::<LoopbackRow>()?, Rule::SEED), &counted);
    Ok(document)
}

/// Collects and writes the diagnosis of each window.
struct Sink<'a> {
    wiring: Option<Wiring>,
    writer: Option<Writer>,
    affected: Affected<'a>,
    document: Document,
}

impl Sink<'_> {
    fn push(&mut self, analyzer: &Analyzer, window: WindowDiagnosis) -> Result<(), Error> {
        let links = analyzer.link_rows(&window);
        if let Some(writer) = &mut self.writer {
            let now = Instant::now();
            writer.append_cells(&links, now)?;
            writer.append_cells(&window.verdicts, now)?;
            writer.append_cells(&vec![window.sla.clone()], now)?;
        }
        self.document.unprobed = self.wiring.as_ref().map(|wiring| wiring.unprobed(&links));
        let flows = self.affected.flows(analyzer, &window)?;
        self.document.add(window, &links, flows);
        Ok(())
    }

    fn finish(mut self, analyzer: &Analyzer, found: &Scan) -> Result<Document, Error> {
        if let Some(writer) = self.writer {
            writer.finish()?;
        }
        self.document.count(analyzer);
        self.document.unreadable = crate::unreadable(found);
        self.document.open_segments = found.open.len();
        self.document.paths = found.row_count(PathRow::TABLE.name);
        self.document.has_flows = self.affected.has_flows();
        Ok(self.document)
    }
}

fn writer(settings: &Settings, found: &Scan) -> Result<Writer, Error> {
    let observer = &settings.observer;
    crate::ensure_first(found, DIAGNOSIS_TABLES, observer)?;
    let options = Options {
        tables: DIAGNOSIS_TABLES,
        ..Options::new(observer)
    };
    Ok(Writer::create(&settings.dataset, options)?)
}
