//! One fault is one verdict: it begins when it showed itself often enough, and ends when it is gone for a while.

use super::finding::{Class, Evidence, Finding, Place};
use super::settings::{SPAN, Settings};
use super::unknown::{Unknown, named};
use super::verdict::{Change, HostVerdict};
use super::view::View;
use super::window::Signs;
use super::wire::earlier;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::Time;

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
    /// Its signs since it began, if it must last to be a verdict.
    signs: Option<Signs>,
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
        for fault in self.all.iter_mut().filter(|fault| fault.is_judged(view)) {
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
                    signs: finding.signs,
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

    /// Signs that were too few, or over too soon, for a verdict.
    pub(crate) fn pending(&self, view: &View<'_>) -> Vec<Unknown> {
        let mut by_class: BTreeMap<(Class, bool), Vec<String>> = BTreeMap::new();
        for fault in self.all.iter().filter(|fault| !fault.has_begun) {
            let place = view.text(&fault.finding.place);
            let goes_on = fault.shown & 1 > 0;
            by_class.entry((fault.finding.class, goes_on)).or_default().push(place);
        }
        let unknown = |((class, goes_on), places): ((Class, bool), Vec<String>)| Unknown {
            what: class.name().to_string(),
            places: named(places),
            reason: match goes_on {
                true => "the last window has signs of it, too few for a verdict: analyze a longer time",
                false => {
                    "there were signs of it, which stopped before they were enough for a verdict: a shorter --window \
                     finds shorter faults"
                }
            }
            .to_string(),
        };
        by_class.into_iter().map(unknown).collect()
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
        self.signs = self.signs.zip(finding.signs).map(|(before, now)| before.with(now));
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

    /// Whether a window can show that it is gone: not without a read of its host.
    fn is_judged(&self, view: &View<'_>) -> bool {
        let Some(port) = self.finding.place.port() else {
            return true;
        };
        match self.finding.class {
            Class::NicVanished => view.is_host_read(port),
            Class::LinkDown | Class::PcieDegraded => view.is_seen(port),
            Class::SickCable | Class::PauseStorm => view.is_counted(port),
            _ => view.is_counted(port) || view.current().is_captured,
        }
    }

    fn is_enough(&self, settings: &Settings) -> bool {
        let recent = self.shown & ((1 << SPAN) - 1);
        let lasted = self
            .signs
            .is_none_or(|signs| signs.lasted_ns() >= settings.window_ns.min(BURST_NS));
        lasted && recent.count_ones() >= self.finding.begins_after.unwrap_or(settings.windows_to_begin)
    }

    /// Whether it has not shown itself for long enough.
    fn has_ended(&self, settings: &Settings) -> bool {
        self.shown.trailing_zeros() >= settings.windows_to_end
    }

    fn verdict(&self, change: Change, view: &View<'_>) -> HostVerdict {
        let lasts = (self.since_ns, self.until_ns);
        let mut verdict = HostVerdict::new(&self.finding, change, lasts, self.windows, view);
        if change == Change::Open && self.until_ns < view.end_ns() {
            verdict.unknown.extend(self.out_of_sight(view));
        }
        verdict
    }

    /// Why the last window does not show whether it goes on.
    fn out_of_sight(&self, view: &View<'_>) -> Option<String> {
        let port = self.finding.place.port()?;
        if !view.is_host_read(port) {
            let host = view.ports.host_of(port);
            let last = Time(host.reads.last_ns);
            return Some(format!(
                "whether it goes on: {} has no rows of counters since {last:.0}",
                host.name
            ));
        }
        (!self.is_judged(view)).then(|| "whether it goes on: its device has vanished".to_string())
    }
}

/// What lasts for less than this, or than a window, is a burst.
const BURST_NS: i64 = 10_000_000_000;

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
