//! Windows of the mesh, analyzed as they end by the clock.
//!
//! The watermark is the collector's own clock minus the lateness. It requires that the hosts' clocks are
//! accurate to a few seconds; a watermark from the newest row would fail if one agent's clock is ahead.

use super::again::Task;
use super::backfill;
use super::late::Late;
use crate::arguments::CollectArguments;
use crate::commands::diagnose::cores::at_once;
use crate::commands::diagnose::topology;
use anyhow::{Context, Result};
use rocescope_collector::server::{Analysis, Rows};
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_diagnose::hostmesh::{Analyzer, Settings, WindowDiagnosis};
use rocescope_engine::metrics::Diagnosed;
use rocescope_model::human::visible;
use rocescope_model::{Cells, PathRow, ProbeRow, Row, Text, Time};
use rocescope_runtime::status;
use rocescope_store::Batch;
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(super) struct Mesh {
    analyzer: Analyzer,
    lateness: Duration,
    quiet: bool,
    diagnosed: Diagnosed,
    /// Symptoms and places of the last window's verdicts: a problem is reported when it starts and ends.
    known: BTreeSet<(String, String)>,
    /// What the last window could not judge: it is reported when it changes.
    unjudged: Text,
    late: Late,
}

impl Mesh {
    /// Adds every window to `diagnosed`.
    pub(super) fn new(arguments: &CollectArguments, diagnosed: Diagnosed) -> Result<Self> {
        let settings = Settings::default().scaled(arguments.scale.into());
        let mut analyzer = Analyzer::new(settings, arguments.observer.clone())?.with(at_once);
        if let Some(path) = &arguments.topology {
            topology::read(path, &mut analyzer)?;
        }
        backfill::feed(arguments, &settings, &mut analyzer).context("the dataset")?;
        let now = Time(now_ns());
        analyzer.goes_live(now);
        let task = Task {
            dataset: arguments.out.clone(),
            settings,
            observer: arguments.observer.clone().into(),
            topology: arguments.topology.clone(),
        };
        let analyzed = Time(now.0 - nanos(arguments.lateness));
        let (age, quiet) = (arguments.retention.segment_age, arguments.quiet);
        Ok(Self {
            late: Late::new(task, age, quiet, diagnosed.clone(), analyzed),
            analyzer,
            lateness: arguments.lateness,
            quiet: arguments.quiet,
            diagnosed,
            known: BTreeSet::new(),
            unjudged: Text::default(),
        })
    }

    fn watermark(&self) -> Time {
        Time(now_ns() - nanos(self.lateness))
    }

    fn report(&mut self, diagnosis: &WindowDiagnosis) {
        let mut now = BTreeSet::new();
        for verdict in &diagnosis.verdicts {
            let key = (verdict.symptom.to_string(), verdict.place.to_string());
            if !self.known.contains(&key) {
                // Earlier collectors stored any name that an agent sent.
                let sentence = visible(&verdict.sentence);
                status!("{:.0}  {}: {sentence}", Time(diagnosis.start_ns), verdict.class);
                status!(
                    "    since {:.0}; {}",
                    Time(verdict.since_ns),
                    evidence(verdict, verdict.score)
                );
                status!("    do: {}", verdict.action);
            }
            now.insert(key);
        }
        if !self.quiet {
            for (symptom, place) in self.known.difference(&now) {
                status!(
                    "{:.0}  resolved: {symptom} at {}",
                    Time(diagnosis.start_ns),
                    visible(place)
                );
            }
        }
        self.known = now;
        let unjudged = &diagnosis.sla.unjudged;
        if !self.quiet && !unjudged.is_empty() && *unjudged != self.unjudged {
            status!("{:.0}  not judged: {unjudged}", Time(diagnosis.start_ns));
        }
        self.unjudged = unjudged.clone();
    }
}

impl Analysis for Mesh {
    fn stored(&mut self, rows: &Batch) {
        let table = rows.table().name;
        // Invalid rows were refused before they were stored.
        if table == ProbeRow::TABLE.name {
            for row in rows.typed::<ProbeRow>().unwrap_or_default() {
                self.analyzer.probe(&row);
            }
            let watermark = self.watermark();
            self.late.note(self.analyzer.late_windows(), watermark);
        } else if table == PathRow::TABLE.name {
            for row in rows.typed::<PathRow>().unwrap_or_default() {
                self.analyzer.path(&row);
            }
        }
    }

    fn due(&mut self) -> Vec<Rows> {
        let mut due: Vec<Rows> = Vec::new();
        let watermark = self.watermark();
        while let Some(diagnosis) = self.analyzer.advance_one(watermark) {
            self.report(&diagnosis);
            self.diagnosed.add(&diagnosis.sla, &diagnosis.verdicts);
            self.late.analyzed(diagnosis.start_ns);
            let links = self.analyzer.link_rows(&diagnosis);
            due.push(Box::new(links));
            due.push(Box::new(diagnosis.verdicts));
            // Last: a window with a row in `sla` is complete in the other tables.
            due.push(Box::new(vec![diagnosis.sla]));
        }
        due.extend(self.late.due(Instant::now()));
        due.retain(|cells| cells.rows() > 0);
        due
    }

    /// The open window has not ended: the next collector reads its rows and continues.
    fn finish(&mut self) -> Vec<Rows> {
        self.due()
    }
}

pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    nanos(since.unwrap_or_default())
}

pub(super) fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
