//! Windows of the counters of hosts and of rows of capture boxes: reports each fault when it begins and when it ends,
//! and stores a row for both.

use super::reanalysis::Reanalysis;
use super::reanalyzer::{Message, Reanalyzer, Revised, Sender, Stop, pass};
use super::reported::{Found, Reported, Revision};
use super::{Driver, Reporter, Settings, nanos, resume};
use crate::{Analysis as _, Error};
use rocescope_collector::server::Rows;
use rocescope_diagnose::hosts::{self, Analyzer, Change, Class, HostVerdict, HostsWindow};
use rocescope_diagnose::incidents::faults::Faults;
use rocescope_model::human::visible;
use rocescope_model::{HostVerdictRow, Time};
use std::collections::BTreeMap;
use std::ops::Range;

const SHORTEST_NS: i64 = 1_000_000_000;
/// Windows before the first one that is analyzed again: signatures look ten minutes back.
const BEFORE: i64 = 60;
/// Windows after the last one: a fault that the late rows show may end in them.
const AFTER: i64 = 6;

/// The analysis of hosts as the rows of them are stored.
pub(super) fn start(settings: &Settings) -> Result<Driver<Hosts>, Error> {
    let defaults = hosts::Settings::default();
    let of_hosts = hosts::Settings {
        window_ns: (defaults.window_ns / i64::from(settings.scale)).max(SHORTEST_NS),
        ..defaults
    };
    let mut analysis = Analyzer::new(of_hosts)?;
    let mut reporter = Hosts {
        settings: settings.clone(),
        reported: Reported::default(),
        revised: Vec::new(),
        faults: Faults::default(),
    };
    let mut pending = Vec::new();
    if settings.dataset.is_dir() {
        resume(settings, &mut analysis, settings.watermark().0).map_err(Error::Resume)?;
        while analysis.advance(settings.watermark()).is_some() {}
        let now = settings.now_ns();
        reporter.reported = Reported::read(&settings.dataset, &settings.observer, now).map_err(Error::Resume)?;
        reporter.resume(&analysis, now, &mut pending);
    }
    reporter.count(&analysis, &[]);
    let reanalyzer = HostsReanalyzer {
        settings: settings.clone(),
        of_hosts,
    };
    Ok(Driver {
        reanalysis: Reanalysis::new(reanalyzer, settings, settings.watermark()),
        settings: settings.clone(),
        analysis,
        reporter,
        pending,
    })
}

/// Reports the faults of hosts.
pub(super) struct Hosts {
    settings: Settings,
    reported: Reported,
    revised: Vec<Revision>,
    /// What began and ended, for the incidents.
    pub(super) faults: Faults,
}

impl Reporter for Hosts {
    type Analysis = Analyzer;
    type Reanalyzer = HostsReanalyzer;

    fn report(&mut self, analysis: &Analyzer, window: HostsWindow, due: &mut Vec<Rows>) {
        self.count(analysis, &window.changes);
        for verdict in &window.changes {
            self.print(verdict, window.end_ns);
            let mut row = verdict.row(&self.settings.observer, window.end_ns);
            self.reported.note(&mut row);
            due.push(rows(row));
        }
        self.reported.forget(window.start_ns);
        self.faults.note(window.changes);
    }

    fn revise(&mut self, analysis: &Analyzer, changes: Found, due: &mut Vec<Rows>) {
        let revision = self
            .reported
            .revise(&changes, &analysis.open_faults(), &self.settings.observer);
        due.extend(revision.rows.iter().cloned().map(rows));
        self.revised.push(revision);
    }

    fn report_revised(&mut self) {
        let settings = &self.settings;
        for Revision { found, gone, .. } in std::mem::take(&mut self.revised) {
            for row in found {
                let (since, class) = (Time(row.since_ns), &row.class);
                let sentence = visible(&row.sentence);
                settings.notice(&format!(
                    "{since:.0}  found in rows that came late: {class}: {sentence}"
                ));
            }
            for row in gone.iter().filter(|_| !settings.quiet) {
                let (since, class, place) = (Time(row.since_ns), &row.class, visible(&row.place));
                settings.notice(&format!(
                    "{since:.0}  no longer holds, rows came late: {class} at {place}"
                ));
            }
        }
    }
}

fn rows(row: HostVerdictRow) -> Rows {
    Box::new(vec![row])
}

impl Hosts {
    /// Reports which faults continue since an earlier collector reported them, and which have ended meanwhile.
    fn resume(&mut self, analysis: &Analyzer, now_ns: i64, pending: &mut Vec<Rows>) {
        let all = analysis.open_faults();
        for open in &all {
            match self.reported.open(open) {
                Some(known) if !self.settings.quiet => {
                    let (since, class, sentence) = (Time(known.since_ns), open.class.name(), visible(&open.sentence));
                    self.settings
                        .notice(&format!("goes on since {since:.0}  {class}: {sentence}"));
                }
                Some(_) => {}
                // An earlier collector was killed before it stored that, or the rows came while it ended.
                None => {
                    let began = HostVerdict {
                        state: Change::Began,
                        ..open.clone()
                    };
                    self.print(&began, open.until_ns);
                    let mut row = began.row(&self.settings.observer, open.until_ns);
                    self.reported.note(&mut row);
                    pending.push(rows(row));
                }
            }
        }
        for row in self.reported.end_others(&all, now_ns) {
            if !self.settings.quiet {
                let (class, place) = (&row.class, visible(&row.place));
                let now = Time(now_ns);
                self.settings
                    .notice(&format!("{now:.0}  resolved or no longer seen: {class} at {place}"));
            }
            pending.push(rows(row));
        }
    }

    /// Counts what began with a window, and what continues.
    fn count(&self, analysis: &Analyzer, changes: &[HostVerdict]) {
        let open = analysis.open_faults();
        let count = |class: Class, verdicts: &[HostVerdict], state| {
            let is_counted = |verdict: &&HostVerdict| verdict.class == class && verdict.state == state;
            verdicts.iter().filter(is_counted).count() as u64
        };
        self.settings.diagnosed.add_hosts(Class::ALL.iter().map(|class| {
            let began = count(*class, changes, Change::Began);
            (class.name(), began, count(*class, &open, Change::Open))
        }));
    }

    fn print(&self, verdict: &HostVerdict, end_ns: i64) {
        let (end, class) = (Time(end_ns), verdict.class.name());
        match verdict.state {
            Change::Ended if !self.settings.quiet => {
                let place = visible(&verdict.place);
                self.settings.notice(&format!("{end:.0}  resolved: {class} at {place}"));
            }
            Change::Ended => {}
            _ => {
                let sentence = visible(&verdict.sentence);
                self.settings.notice(&format!("{end:.0}  {class}: {sentence}"));
            }
        }
    }
}

/// Analyzes windows of hosts again. What that changes is decided by what was reported meanwhile.
pub(super) struct HostsReanalyzer {
    settings: Settings,
    of_hosts: hosts::Settings,
}

impl Reanalyzer for HostsReanalyzer {
    type Changes = Found;

    fn window_ns(&self) -> i64 {
        self.of_hosts.window_ns
    }

    /// No row states how many rows an analysis of hosts had: rows that came late to an earlier collector are not
    /// looked for.
    fn incomplete_windows(&self, _: Range<i64>) -> Result<Vec<i64>, Stop> {
        Ok(Vec::new())
    }

    fn analyze(&self, windows: BTreeMap<i64, Option<u32>>, sender: &Sender<Found>) -> Result<(), Stop> {
        let mut group: Vec<i64> = Vec::new();
        for start in windows.into_keys() {
            if group
                .last()
                .is_some_and(|last| start - last > BEFORE * self.window_ns())
            {
                self.group(&std::mem::take(&mut group), sender)?;
            }
            group.push(start);
        }
        self.group(&group, sender)
    }
}

impl HostsReanalyzer {
    /// Analyzes windows that are close to each other in one pass.
    fn group(&self, starts: &[i64], sender: &Sender<Found>) -> Result<(), Stop> {
        let window_ns = self.window_ns();
        let (Some(first), Some(last)) = (starts.first(), starts.last()) else {
            return Ok(());
        };
        let sealed = self.settings.watermark().0 - nanos(self.settings.pause());
        let sealed = sealed - sealed.rem_euclid(window_ns);
        let until = (last + (1 + AFTER) * window_ns).min(sealed).max(last + window_ns);
        let mut analyzer = Analyzer::new(self.of_hosts).map_err(Error::from)?;
        let mut changes = Vec::new();
        let from = first - BEFORE * window_ns;
        pass(&mut analyzer, &self.settings.dataset, from..until, |_, window| {
            if window.start_ns >= *first {
                changes.extend(window.changes.into_iter().map(|verdict| (verdict, window.end_ns)));
            }
            Ok(())
        })?;
        sender.send(Message::Revised(Box::new(Revised {
            windows: starts.iter().map(|start| (*start, 0)).collect(),
            rows: Vec::new(),
            changes: Found {
                time: *first..until,
                changes,
                open: analyzer.open_faults(),
            },
        })))
    }
}
