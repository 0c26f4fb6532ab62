//! The diagnosis of hosts over a time of a dataset.

use crate::{Error, dataset};
use rocescope_diagnose::hosts::{Analyzer, Document, HostVerdict, HostsWindow, Settings};
use rocescope_model::hosts::Hosts;
use rocescope_model::{CounterRow, FlowRow, HOST_DIAGNOSIS_TABLES, Row, Text};
use rocescope_store::{Options, Query, Scan, TimeRange, Writer};
use std::path::Path;
use std::time::Instant;

/// Opens a dataset for the diagnosis of a time.
///
/// # Errors
/// It cannot be read.
pub fn open(root: &Path, time: TimeRange) -> Result<Scan, Error> {
    Ok(Query::default().within(dataset::reach::<Analyzer>(time)).open(root)?)
}

/// The rows that a diagnosis rests on.
#[must_use]
pub fn rows(found: &Scan) -> u64 {
    found.row_count(CounterRow::TABLE.name) + found.row_count(FlowRow::TABLE.name)
}

/// The diagnosis of a time, with a name for the hosts of addresses; `None` if it has no window. The verdicts go into
/// the dataset under the name of an observer, if there is one.
///
/// # Errors
/// The length of a window is invalid, or the dataset cannot be read or written.
pub fn diagnose(
    found: &Scan,
    time: TimeRange,
    window_ns: i64,
    names: &Hosts,
    write: Option<(&Path, &str)>,
) -> Result<Option<Document>, Error> {
    let settings = Settings {
        window_ns,
        ..Settings::default()
    };
    let writer = write
        .map(|(root, observer)| writer(root, observer, found))
        .transpose()?;
    let mut analyzer = Analyzer::new(settings)?;
    for (address, host) in names.iter() {
        analyzer.know(address, host);
    }
    let mut sink = Sink {
        writer,
        observer: write.map_or("", |(_, observer)| observer).to_owned().into(),
        time,
        verdicts: Vec::new(),
        from_ns: None,
        to_ns: None,
        window_ns: 0,
    };
    dataset::hours(&mut analyzer, found, time, |_, window| sink.push(window))?;
    if sink.from_ns.is_none() {
        return Ok(None);
    }
    sink.finish(&analyzer, found).map(Some)
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
    fn push(&mut self, window: HostsWindow) -> Result<(), Error> {
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

    fn add(&mut self, verdict: HostVerdict, time_ns: i64) -> Result<(), Error> {
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

    fn finish(mut self, analyzer: &Analyzer, found: &Scan) -> Result<Document, Error> {
        let end_ns = self.to_ns.unwrap_or_default();
        for verdict in analyzer.open_faults() {
            self.add(verdict, end_ns)?;
        }
        if let Some(writer) = self.writer {
            writer.finish()?;
        }
        self.verdicts.sort_by_key(|verdict| verdict.since_ns);
        Ok(Document {
            unknown: analyzer.unknowns(),
            counts: analyzer.counts(),
            verdicts: self.verdicts,
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            window_ns: self.window_ns,
            unreadable_files: crate::unreadable(found),
            open_segments: found.open.len(),
        })
    }
}

fn writer(root: &Path, observer: &str, found: &Scan) -> Result<Writer, Error> {
    crate::ensure_first(found, HOST_DIAGNOSIS_TABLES, observer)?;
    let options = Options {
        tables: HOST_DIAGNOSIS_TABLES,
        ..Options::new(observer)
    };
    Ok(Writer::create(root, options)?)
}
