//! Analyzes closed windows again, from the dataset, in a thread of its own.
//!
//! The windows before them are analyzed first, for baselines and for problems that go on. The thread holds the probes of
//! a window, or of several if they are few, and rests as long as it works: it takes at most half a core.

use crate::commands::diagnose::feed::is_read;
use crate::commands::diagnose::topology;
use crate::commands::span::PATHS_NS;
use anyhow::Result;
use rocescope_collector::server::Rows;
use rocescope_diagnose::hostmesh::{Analyzer, Changes, Former, Settings};
use rocescope_model::{PathRow, ProbeRow, Row, SlaRow, Text, Time, VerdictRow};
use rocescope_store::{Query, Scan, TimeRange};
use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::sleep;
use std::time::Instant;

/// Windows before the first one: the baselines of five minutes.
const BEFORE: i64 = 15;
/// Probes that are read at once: 16 bytes each.
const MAX_PROBES: u64 = 16_000_000;

/// Where the rows are, and how they are analyzed.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) dataset: PathBuf,
    pub(super) settings: Settings,
    pub(super) observer: Text,
    pub(super) topology: Option<PathBuf>,
}

/// What the thread reports.
pub(super) enum Message {
    /// Windows whose latest analysis lacks rows of the dataset, by their starts.
    Lacking(Vec<i64>),
    /// A window was analyzed again.
    Revised(Box<Revised>),
    /// The rows of the latest analysis of this window are not sealed yet.
    Unsealed(i64),
    /// The dataset cannot be read.
    Failed(String),
}

/// A window that was analyzed again.
pub(super) struct Revised {
    pub(super) start_ns: i64,
    pub(super) revision: u32,
    pub(super) changes: Changes,
    /// Its rows of `links`, `verdicts` and `sla`.
    pub(super) rows: Vec<Rows>,
}

/// The receiver is gone: the collector ends.
struct Over;

impl Task {
    /// Finds the windows between two times of which the dataset has more probes than their latest analysis counts.
    pub(super) fn find(&self, from_ns: i64, until_ns: i64, send: &SyncSender<Message>) {
        let message = match self.lacking(from_ns, until_ns) {
            Ok(windows) => Message::Lacking(windows),
            Err(error) => Message::Failed(format!("{error:#}")),
        };
        // Without a receiver the collector ends.
        let _ = send.send(message);
    }

    fn lacking(&self, from_ns: i64, until_ns: i64) -> Result<Vec<i64>> {
        let window_ns = self.settings.window_ns;
        let range = TimeRange::from(from_ns..until_ns);
        let tables = [ProbeRow::TABLE, SlaRow::TABLE];
        let found = Query::default().tables(&tables).within(range).scan(&self.dataset)?;
        let mut stored: BTreeMap<i64, u64> = BTreeMap::new();
        found.select::<ProbeRow>().columns(is_read).for_each(|row| {
            // These are in no count of an analysis.
            if row.outcome.as_str() != "unknown" {
                let start_ns = row.time_ns.saturating_sub(row.time_ns.rem_euclid(window_ns));
                *stored.entry(start_ns).or_default() += 1;
            }
        })?;
        let formers = self.formers(&found, range)?;
        let lacks = |(start, rows): &(i64, u64)| {
            let sla = formers.get(start).and_then(|former| former.sla.as_ref());
            *rows > sla.map_or(0, |sla| sla.probes + sla.unsent)
        };
        Ok(stored.into_iter().filter(lacks).map(|(start, _)| start).collect())
    }

    /// Analyzes these windows, by their starts, with the number of the latest analysis if this process made it.
    pub(super) fn analyze(&self, windows: BTreeMap<i64, Option<u32>>, send: &SyncSender<Message>) {
        match self.revise(windows, send) {
            Ok(Ok(()) | Err(Over)) => {}
            Err(error) => {
                let _ = send.send(Message::Failed(format!("{error:#}")));
            }
        }
    }

    fn revise(&self, windows: BTreeMap<i64, Option<u32>>, send: &SyncSender<Message>) -> Result<Result<(), Over>> {
        let (Some((first, _)), Some((last, _))) = (windows.first_key_value(), windows.last_key_value()) else {
            return Ok(Ok(()));
        };
        let range = TimeRange::from(*first..*last + self.settings.window_ns);
        let tables = [SlaRow::TABLE, VerdictRow::TABLE];
        let found = Query::default().tables(&tables).within(range).scan(&self.dataset)?;
        let mut formers = self.formers(&found, range)?;
        let mut group: BTreeMap<i64, Former> = BTreeMap::new();
        for (start, made) in windows {
            let former = formers.remove(&start).unwrap_or_default();
            let stored = former.sla.as_ref().map(|sla| sla.revision.unwrap_or(0));
            if made.is_some() && made != stored {
                if send.send(Message::Unsealed(start)).is_err() {
                    return Ok(Err(Over));
                }
                continue;
            }
            let previous = group.last_key_value().map_or(start, |(previous, _)| *previous);
            if start - previous > BEFORE * self.settings.window_ns && self.group(&mem::take(&mut group), send)?.is_err()
            {
                return Ok(Err(Over));
            }
            group.insert(start, former);
        }
        self.group(&group, send)
    }

    /// The latest analyses of the windows of a time, by their starts.
    fn formers(&self, found: &Scan, time: TimeRange) -> Result<BTreeMap<i64, Former>> {
        let mut formers: BTreeMap<i64, Former> = BTreeMap::new();
        let revisions = found.revisions(time)?;
        found.select::<SlaRow>().within(time).for_each(|row| {
            if row.observer == self.observer && revisions.has(&row) {
                let former = formers.entry(row.window_start_ns).or_default();
                former.sla = Some(row);
            }
        })?;
        found.select::<VerdictRow>().within(time).for_each(|row| {
            if row.observer == self.observer && revisions.has(&row) {
                let former = formers.entry(row.window_start_ns).or_default();
                former.verdicts.push(row);
            }
        })?;
        Ok(formers)
    }

    /// Analyzes windows that are close to each other in one pass.
    fn group(&self, formers: &BTreeMap<i64, Former>, send: &SyncSender<Message>) -> Result<Result<(), Over>> {
        let window_ns = self.settings.window_ns;
        let (Some((first, _)), Some((last, _))) = (formers.first_key_value(), formers.last_key_value()) else {
            return Ok(Ok(()));
        };
        let (from, until) = (*first - BEFORE * window_ns, *last + window_ns);
        let known = from.saturating_sub(PATHS_NS);
        let tables = [PathRow::TABLE, ProbeRow::TABLE];
        let read = Query::default().tables(&tables).within(TimeRange::from(known..until));
        let found = read.scan(&self.dataset)?;
        let mut analyzer = self.analyzer(formers, from)?;
        let paths = found.select::<PathRow>();
        paths.clone().within(known..from).for_each(|row| analyzer.path(&row))?;
        let probes = found.select::<ProbeRow>().within(from..until).columns(is_read);
        let (rows, windows) = (
            probes.segments().map(|segment| segment.rows).sum::<u64>(),
            (until - from) / window_ns,
        );
        let step_ns = window_ns * steps(rows, windows);
        let mut at = from;
        while at < until {
            let begun = Instant::now();
            let end = at.saturating_add(step_ns).min(until);
            paths.clone().within(at..end).for_each(|row| analyzer.path(&row))?;
            probes.clone().within(at..end).for_each(|row| analyzer.probe(&row))?;
            while let Some(mut diagnosis) = analyzer.advance_one(Time(end)) {
                let Some(former) = formers.get(&diagnosis.start_ns) else {
                    continue;
                };
                let mut links = analyzer.link_rows(&diagnosis);
                let Some(changes) = former.revise(&mut diagnosis, &mut links) else {
                    continue;
                };
                let revised = Revised {
                    start_ns: diagnosis.start_ns,
                    revision: diagnosis.sla.revision.unwrap_or(0),
                    changes,
                    // Last: a window with a row in `sla` is complete in the other tables.
                    rows: vec![
                        Box::new(links),
                        Box::new(diagnosis.verdicts),
                        Box::new(vec![diagnosis.sla]),
                    ],
                };
                if send.send(Message::Revised(Box::new(revised))).is_err() {
                    return Ok(Err(Over));
                }
            }
            sleep(begun.elapsed());
            at = end;
        }
        Ok(Ok(()))
    }

    /// An analyzer before the first row of `from`: hosts that were silent already by then are known.
    fn analyzer(&self, formers: &BTreeMap<i64, Former>, from: i64) -> Result<Analyzer> {
        let mut analyzer = Analyzer::new(self.settings, self.observer.clone())?;
        if let Some(path) = &self.topology {
            topology::read(path, &mut analyzer)?;
        }
        analyzer.goes_live(Time(i64::MIN));
        let verdicts = formers.values().flat_map(|former| &former.verdicts);
        for verdict in verdicts.filter(|verdict| &*verdict.symptom == "silence" && verdict.since_ns < from) {
            if let Some(host) = &verdict.host {
                analyzer.hears(host, Time(verdict.since_ns), verdict.probes);
            }
        }
        Ok(analyzer)
    }
}

/// How many of the windows are read at once, if all of them together have `rows`.
fn steps(rows: u64, windows: i64) -> i64 {
    let windows = windows.max(1);
    let each = (rows / windows.unsigned_abs()).max(1);
    i64::try_from(MAX_PROBES / each).unwrap_or(windows).clamp(1, windows)
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn as_many_windows_are_read_at_once_as_fit_into_memory() {
        assert_eq!(steps(0, 30), 30);
        assert_eq!(steps(3_000_000, 30), 30);
        assert_eq!(steps(160_000_000, 30), 3);
        assert_eq!(steps(480_000_000, 30), 1);
        assert_eq!(steps(4_800_000_000, 30), 1);
    }
}
