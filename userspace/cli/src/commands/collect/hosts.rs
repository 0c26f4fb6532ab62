//! Counters of hosts and rows of capture boxes, analyzed window by window as they end by the clock.

use super::earlier_faults::EarlierFaults;
use super::mesh::{nanos, now_ns};
use crate::arguments::CollectArguments;
use anyhow::{Context, Result};
use rocescope_collector::server::{Analysis, Rows};
use rocescope_diagnose::hosts::{Analyzer, Change, Class, HostVerdict, Settings};
use rocescope_engine::metrics::Diagnosed;
use rocescope_model::human::visible;
use rocescope_model::{Cells, ConnectionRow, CounterRow, EventRow, FlowRow, HostVerdictRow, Row, Table, Text, Time};
use rocescope_runtime::status;
use rocescope_store::{Batch, Query, TimeRange};
use std::time::Duration;

/// The tables that the analysis reads.
const TABLES: [&Table; 4] = [CounterRow::TABLE, FlowRow::TABLE, EventRow::TABLE, ConnectionRow::TABLE];
/// Counters that do not change have a row every five minutes.
const COUNTERS_NS: i64 = 360_000_000_000;
const SHORTEST_NS: i64 = 1_000_000_000;

/// Reports each fault when it begins and when it ends, and stores a row for both.
pub(super) struct Hosts {
    analyzer: Analyzer,
    observer: Text,
    lateness: Duration,
    quiet: bool,
    diagnosed: Diagnosed,
    /// Faults that go on since an earlier collector reported them.
    earlier: EarlierFaults,
    /// Rows about the time before the start.
    pending: Vec<HostVerdictRow>,
}

impl Hosts {
    /// Adds every window to `diagnosed`.
    pub(super) fn new(arguments: &CollectArguments, diagnosed: Diagnosed) -> Result<Self> {
        let defaults = Settings::default();
        let settings = Settings {
            window_ns: (defaults.window_ns / i64::from(arguments.scale)).max(SHORTEST_NS),
            ..defaults
        };
        let mut hosts = Self {
            analyzer: Analyzer::new(settings)?,
            observer: arguments.observer.clone().into(),
            lateness: arguments.lateness,
            quiet: arguments.quiet,
            diagnosed,
            earlier: EarlierFaults::default(),
            pending: Vec::new(),
        };
        hosts.resume(arguments).context("the dataset")?;
        hosts.count(&[]);
        Ok(hosts)
    }

    /// Reads the rows of the last minutes: what their values are, and which faults go on.
    fn resume(&mut self, arguments: &CollectArguments) -> Result<()> {
        if !arguments.out.is_dir() {
            return Ok(());
        }
        let now = now_ns();
        let since = TimeRange::since(Time(now - nanos(self.lateness) - COUNTERS_NS));
        let read = Query::default().tables(&TABLES).within(since);
        let found = read.scan(&arguments.out)?;
        let analyzer = &mut self.analyzer;
        let rows = found.select::<CounterRow>().within(since);
        rows.for_each(|row| {
            if row.time_ns <= now {
                analyzer.counter(&row);
            }
        })?;
        let rows = found.select::<FlowRow>().within(since);
        rows.for_each(|row| {
            if row.window_start_ns <= now {
                analyzer.flow(&row);
            }
        })?;
        let rows = found.select::<EventRow>().within(since);
        rows.for_each(|row| {
            if row.time_ns <= now {
                analyzer.event(&row);
            }
        })?;
        let rows = found.select::<ConnectionRow>().within(since);
        rows.for_each(|row| {
            if row.time_ns <= now {
                analyzer.connection(&row);
            }
        })?;
        while self.analyzer.advance_one(self.watermark()).is_some() {}
        self.earlier = EarlierFaults::read(&arguments.out, &self.observer, now)?;
        for open in self.analyzer.open_faults() {
            match self.earlier.since_ns(&open) {
                Some(since_ns) if !self.quiet => {
                    let sentence = visible(&open.sentence);
                    status!("goes on since {:.0}  {}: {sentence}", Time(since_ns), open.class.name());
                }
                Some(_) => {}
                // An earlier collector was killed before it stored that, or the rows came while it ended.
                None => {
                    let end_ns = open.until_ns;
                    let began = HostVerdict {
                        state: Change::Began,
                        ..open
                    };
                    self.report(&began, end_ns);
                    self.pending.push(began.row(&self.observer, end_ns));
                }
            }
        }
        for row in self.earlier.end_others(&self.analyzer.open_faults(), now) {
            if !self.quiet {
                let (class, place) = (&row.class, visible(&row.place));
                status!("{:.0}  resolved or no longer seen: {class} at {place}", Time(now));
            }
            self.pending.push(row);
        }
        Ok(())
    }

    /// Counts what began with a window, and what goes on.
    fn count(&self, changes: &[HostVerdict]) {
        let open = self.analyzer.open_faults();
        let count = |class: Class, verdicts: &[HostVerdict], state| {
            let of = |verdict: &&HostVerdict| verdict.class == class && verdict.state == state;
            verdicts.iter().filter(of).count() as u64
        };
        self.diagnosed.add_hosts(Class::ALL.iter().map(|class| {
            let began = count(*class, changes, Change::Began);
            (class.name(), began, count(*class, &open, Change::Open))
        }));
    }

    fn watermark(&self) -> Time {
        Time(now_ns() - nanos(self.lateness))
    }

    fn report(&self, verdict: &HostVerdict, end_ns: i64) {
        let sentence = visible(&verdict.sentence);
        match verdict.state {
            Change::Ended if !self.quiet => {
                let place = visible(&verdict.place);
                status!("{:.0}  resolved: {} at {place}", Time(end_ns), verdict.class.name());
            }
            Change::Ended => {}
            _ => status!("{:.0}  {}: {sentence}", Time(end_ns), verdict.class.name()),
        }
    }
}

impl Analysis for Hosts {
    fn stored(&mut self, rows: &Batch) {
        // Invalid rows were refused before they were stored.
        let (table, analyzer) = (rows.table(), &mut self.analyzer);
        if table == CounterRow::TABLE {
            let rows = rows.typed::<CounterRow>().unwrap_or_default();
            rows.iter().for_each(|row| analyzer.counter(row));
        } else if table == FlowRow::TABLE {
            let rows = rows.typed::<FlowRow>().unwrap_or_default();
            rows.iter().for_each(|row| analyzer.flow(row));
        } else if table == EventRow::TABLE {
            let rows = rows.typed::<EventRow>().unwrap_or_default();
            rows.iter().for_each(|row| analyzer.event(row));
        } else if table == ConnectionRow::TABLE {
            let rows = rows.typed::<ConnectionRow>().unwrap_or_default();
            rows.iter().for_each(|row| analyzer.connection(row));
        }
    }

    fn due(&mut self) -> Vec<Rows> {
        let mut rows = std::mem::take(&mut self.pending);
        while let Some(window) = self.analyzer.advance_one(self.watermark()) {
            self.count(&window.changes);
            for verdict in &window.changes {
                self.report(verdict, window.end_ns);
                let mut row = verdict.row(&self.observer, window.end_ns);
                self.earlier.resume(verdict, &mut row);
                rows.push(row);
            }
        }
        let rows = rows.into_iter().map(|row| Box::new(vec![row]) as Rows);
        rows.collect()
    }

    fn finish(&mut self) -> Vec<Rows> {
        self.due()
    }
}

/// Several analyses of the same rows.
pub(super) struct All(pub(super) Vec<Box<dyn Analysis>>);

impl Analysis for All {
    fn stored(&mut self, rows: &Batch) {
        self.0.iter_mut().for_each(|analysis| analysis.stored(rows));
    }

    fn due(&mut self) -> Vec<Rows> {
        self.0.iter_mut().flat_map(|analysis| analysis.due()).collect()
    }

    fn finish(&mut self) -> Vec<Rows> {
        self.0.iter_mut().flat_map(|analysis| analysis.finish()).collect()
    }
}
