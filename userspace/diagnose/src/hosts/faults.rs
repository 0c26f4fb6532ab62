//! One fault is one verdict: it begins when it showed itself often enough, and ends when it is gone for a while.

use super::finding::{Evidence, Finding, Place};
use super::settings::{SPAN, Settings};
use super::verdict::{Change, HostVerdict};
use super::view::View;
use super::wire::earlier;
use alloc::vec::Vec;

/// A fault, or what may become one.
#[derive(Debug)]
struct Fault {
    finding: Finding,
    /// One bit for each window, the last lowest.
    shown: u32,
    since_ns: i64,
    /// End of the last window in which it showed itself.
    until_ns: i64,
    windows: u64,
    has_begun: bool,
}

/// Follows findings from window to window.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    all: Vec<Fault>,
}

impl Faults {
    /// Whether a fault of a window or an open one fits.
    pub(crate) fn any(&self, fits: impl Fn(&Finding) -> bool) -> bool {
        self.all.iter().any(|fault| fault.has_begun && fits(&fault.finding))
    }

    /// Adds the findings of a window; returns what began and what ended.
    pub(crate) fn close(&mut self, findings: Vec<Finding>, view: &View<'_>) -> Vec<HostVerdict> {
        let settings = view.settings;
        let end_ns = view.start_ns.saturating_add(settings.window_ns);
        for fault in &mut self.all {
            fault.shown <<= 1;
        }
        for finding in findings {
            match self.all.iter_mut().find(|fault| fault.finding.is_same(&finding)) {
                Some(fault) => fault.go_on(finding, view.start_ns, end_ns),
                None => self.all.push(Fault {
                    since_ns: finding.since_ns.unwrap_or(view.start_ns),
                    shown: 1,
                    until_ns: end_ns,
                    windows: 1,
                    has_begun: false,
                    finding,
                }),
            }
        }
        let mut changes = Vec::new();
        for fault in &mut self.all {
            if !fault.has_begun && fault.is_enough(settings) {
                fault.has_begun = true;
                changes.push(fault.verdict(Change::Began, view));
            } else if fault.has_ended(settings) && fault.has_begun {
                changes.push(fault.verdict(Change::Ended, view));
            }
        }
        self.all.retain(|fault| !fault.has_ended(settings));
        changes
    }

    /// The faults that have begun and not ended.
    pub(crate) fn open(&self, view: &View<'_>) -> Vec<HostVerdict> {
        let open = self.all.iter().filter(|fault| fault.has_begun);
        open.map(|fault| fault.verdict(Change::Open, view)).collect()
    }
}

impl Fault {
    fn go_on(&mut self, finding: Finding, start_ns: i64, end_ns: i64) {
        self.shown |= 1;
        self.until_ns = end_ns;
        self.windows += 1;
        let mut evidence = core::mem::take(&mut self.finding.evidence);
        for found in finding.evidence.iter().cloned() {
            add(&mut evidence, found);
        }
        self.since_ns = earlier(Some(self.since_ns), finding.since_ns).unwrap_or(start_ns);
        // Until it is a verdict, the last statement rests on most; then the surest stays, and the place does.
        let is_better = finding.place == self.finding.place && finding.confidence >= self.finding.confidence;
        if !self.has_begun || is_better {
            self.finding = finding;
        }
        self.finding.evidence = evidence;
    }

    fn is_enough(&self, settings: &Settings) -> bool {
        let recent = self.shown & ((1 << SPAN) - 1);
        recent.count_ones() >= self.finding.begins_after.unwrap_or(settings.windows_to_begin)
    }

    /// Whether it has not shown itself for long enough.
    fn has_ended(&self, settings: &Settings) -> bool {
        self.shown.trailing_zeros() >= settings.windows_to_end
    }

    fn verdict(&self, change: Change, view: &View<'_>) -> HostVerdict {
        HostVerdict::new(
            &self.finding,
            change,
            (self.since_ns, self.until_ns),
            self.windows,
            view,
        )
    }
}

/// Rows of one fault that are kept as its evidence.
const EVIDENCE: usize = 24;

fn add(all: &mut Vec<Evidence>, found: Evidence) {
    let place = all
        .iter()
        .position(|known| known.of == found.of && known.name == found.name);
    if let Some(known) = place.and_then(|at| all.get_mut(at)) {
        known.value = if found.is_sum {
            known.value + found.value
        } else {
            found.value
        };
    } else if all.len() < EVIDENCE {
        all.push(found);
    }
}

impl Place {
    /// The port, if it is one.
    pub(crate) const fn port(&self) -> Option<u32> {
        match self {
            Self::Port(port) => Some(*port),
            _ => None,
        }
    }
}
