//! The incidents of a capture, as its rows come: of a file, a pipe, or interfaces.

use super::{Document, Incident, Wire, convert, join};
use crate::hosts::{Analyzer, Class, HostVerdict, HostsWindow, NOT_COUNTED, Settings};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::hosts::Hosts;
use rocescope_model::{Time, WindowRows};

/// A capture without counters is judged by the second: files are short, and rates are of the wire itself.
pub const WINDOW_NS: i64 = 1_000_000_000;
/// How long after its time an event may be known.
const LATE_NS: i64 = 20_000_000_000;

/// Takes the rows of a capture.
#[derive(Debug)]
pub struct Captured {
    wire: Wire,
    /// What signs of several windows show: congestion, receivers that are not ready.
    windows: Option<Analyzer>,
    verdicts: Vec<HostVerdict>,
}

impl Default for Captured {
    fn default() -> Self {
        let settings = Settings {
            window_ns: WINDOW_NS,
            ..Settings::default()
        };
        Self {
            wire: Wire::default(),
            windows: Analyzer::new(settings).ok(),
            verdicts: Vec::new(),
        }
    }
}

impl Captured {
    /// Names hosts of addresses.
    #[must_use]
    pub fn with(mut self, names: &Hosts) -> Self {
        if let Some(analyzer) = &mut self.windows {
            names.iter().for_each(|(address, host)| analyzer.know(address, host));
        }
        self
    }

    /// Takes the rows of windows that have ended.
    pub fn rows(&mut self, rows: &WindowRows) {
        rows.windows.iter().for_each(|row| self.wire.window(row));
        rows.events.iter().for_each(|row| self.wire.event(row));
        rows.connections.iter().for_each(|row| self.wire.connection(row));
        let Some(analyzer) = &mut self.windows else { return };
        rows.flows.iter().for_each(|row| analyzer.flow(row));
        rows.events.iter().for_each(|row| analyzer.event(row));
        rows.connections.iter().for_each(|row| analyzer.connection(row));
        // Windows come in order; an event that a timer shows comes after its window.
        if let Some(start_ns) = rows.windows.iter().map(|row| row.window_start_ns).min() {
            let watermark = Time(start_ns.saturating_sub(LATE_NS));
            while let Some(window) = analyzer.advance_one(watermark) {
                note(&mut self.verdicts, window);
            }
        }
    }

    /// The incidents of all rows, after the last one.
    #[must_use]
    pub fn document(&mut self) -> Document {
        if let Some(analyzer) = &mut self.windows {
            while let Some(window) = analyzer.finish_one() {
                note(&mut self.verdicts, window);
            }
        }
        self.current()
    }

    /// The incidents of the windows that have ended; more rows may follow.
    #[must_use]
    pub fn current(&self) -> Document {
        let open = self.windows.as_ref().map(Analyzer::open_faults).unwrap_or_default();
        let mut verdicts = self.verdicts.clone();
        open.into_iter().for_each(|verdict| update(&mut verdicts, verdict));
        let found = self.wire.find();
        let mut incidents = found.incidents;
        let (of_windows, note) = without_counters(verdicts.iter());
        incidents.extend(of_windows);
        let incidents = join(incidents, &self.wire);
        let mut notes = found.notes;
        notes.extend(note);
        notes.extend(self.wire.marks(&incidents));
        Document {
            incidents,
            judged: self.wire.judged().into_iter().collect(),
            notes,
        }
    }
}

/// The faults of verdicts where no host counts anything; that is a note, and not a line of each of them.
#[must_use]
pub fn without_counters<'a>(verdicts: impl Iterator<Item = &'a HostVerdict>) -> (Vec<Incident>, Option<String>) {
    let mut lacks_counters = false;
    let faults = verdicts.filter(|verdict| is_fault(verdict)).map(|verdict| {
        let mut incident = convert::host(verdict);
        let before = incident.unknown.len();
        incident.unknown.retain(|unknown| !unknown.ends_with(NOT_COUNTED));
        lacks_counters |= incident.unknown.len() < before;
        incident
    });
    let faults = faults.collect();
    let note =
        "no host counts anything here: `rocescope counters --out` at both ends would tell which side drops packets";
    (faults, lacks_counters.then(|| note.to_string()))
}

/// A rate that jumps may be what the application does: without another fault it is none.
#[must_use]
pub fn is_fault(verdict: &HostVerdict) -> bool {
    verdict.class != Class::Jitter
}

fn note(verdicts: &mut Vec<HostVerdict>, window: HostsWindow) {
    window.changes.into_iter().for_each(|verdict| update(verdicts, verdict));
}

/// Replaces an earlier state of the same fault.
fn update(verdicts: &mut Vec<HostVerdict>, verdict: HostVerdict) {
    match verdicts.iter_mut().rev().find(|known| verdict.continues(known)) {
        Some(known) => *known = verdict,
        None => verdicts.push(verdict),
    }
}
