//! Reports which incidents opened, changed and closed: as lines, as metrics, and to what `--on-incident` names.

use super::on_incident::OnIncident;
use crate::live::Notices;
use rocescope_diagnose::incidents::changes::{Change, Changes, Kind};
use rocescope_diagnose::incidents::{Document, Incident};
use rocescope_model::hosts::Hosts;
use rocescope_model::human::visible;
use rocescope_runtime::hook::Hook;
use rocescope_runtime::hook::counts::Counts;
use rocescope_runtime::metrics::OpenIncidents;
use rocescope_runtime::status;
use std::fmt;
use std::sync::Arc;

/// Where reports go; without any, nothing is reported.
#[derive(Clone, Default)]
pub struct Reports {
    /// A line for each change.
    pub lines: Option<Notices>,
    /// Whether only what opened has a line.
    pub is_quiet: bool,
    /// What gets each change.
    pub on_incident: Option<OnIncident>,
    /// The metric of what is open.
    pub metrics: Option<OpenIncidents>,
    /// Who reports.
    pub observer: String,
    /// Names of addresses.
    pub names: Hosts,
    /// The number of packets for each that the mirror delivers, if that is stated.
    pub mirror_sampling: Option<u64>,
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reports")
            .field("on_incident", &self.on_incident)
            .finish_non_exhaustive()
    }
}

/// Compares what is found with what was found before, and reports the changes.
#[derive(Debug)]
pub struct Reporting {
    reports: Reports,
    changes: Changes,
    counts: Arc<Counts>,
    /// Opened with the first change: by then a capture has dropped its privileges.
    hook: Option<Hook<Change>>,
}

impl Reporting {
    /// Reports changes from `changes` on.
    #[must_use]
    pub fn new(reports: Reports, changes: Changes) -> Self {
        let counts = Arc::<Counts>::default();
        if let (Some(metrics), Some(_)) = (&reports.metrics, &reports.on_incident) {
            metrics.show(Arc::clone(&counts));
        }
        Self {
            reports,
            changes,
            counts,
            hook: None,
        }
    }

    /// Whether anything is reported.
    #[must_use]
    pub const fn is_wanted(&self) -> bool {
        let Reports {
            lines,
            on_incident,
            metrics,
            ..
        } = &self.reports;
        lines.is_some() || on_incident.is_some() || metrics.is_some()
    }

    /// Reports what changed up to `now_ns`; `None` after the last row.
    pub fn report(&mut self, now: &Document, now_ns: Option<i64>) -> Vec<Change> {
        let changes = self.changes.since_last(now, now_ns);
        for change in &changes {
            let is_told = !self.reports.is_quiet || change.change == Kind::Opened;
            if let Some(notice) = self.reports.lines.as_ref().filter(|_| is_told) {
                notice(&self.reports.names.text(&change.to_string()));
            }
            self.pass_on(change);
        }
        if let Some(metrics) = &self.reports.metrics {
            let open = self.changes.open().map(|incident| {
                let place = self.reports.names.text(&visible(&incident.place.name));
                (incident.class.as_str(), place, incident.certainty.name())
            });
            metrics.set(open);
        }
        changes
    }

    /// The open incidents.
    pub fn open(&self) -> impl Iterator<Item = &Incident> {
        self.changes.open()
    }

    fn pass_on(&mut self, change: &Change) {
        let Some(target) = &self.reports.on_incident else {
            return;
        };
        if self.hook.is_none() {
            match Hook::open(
                target.open(&self.reports.observer, &self.reports.names),
                Arc::clone(&self.counts),
            ) {
                Ok(hook) => self.hook = Some(hook),
                Err(error) => status!("rocescope: warning: --on-incident: {error}"),
            }
        }
        if let Some(hook) = &self.hook {
            hook.send(change.clone());
        }
    }

    /// Waits until the changes are delivered, half a minute at most, and states whether one was lost.
    pub fn finish(&mut self) {
        if let Some(hook) = self.hook.take() {
            hook.end();
        }
        if let Some(problem) = self.counts.problem() {
            status!("rocescope: warning: {problem}");
        }
    }
}
