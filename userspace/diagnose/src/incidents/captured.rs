//! The incidents of a capture, as its rows come: of a file, a pipe, or interfaces.

use super::faults::{Faults, is_known_of_a_sample, without_counters};
use super::{Document, Wire, join};
use crate::hosts::{Analyzer, Settings};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_model::hosts::Hosts;
use rocescope_model::{FlowRow, Time, WindowRows};

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
    faults: Faults,
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
            faults: Faults::default(),
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

    /// The mirror samples one packet of N, as its operator states.
    #[must_use]
    pub fn sampling(mut self, one_of: Option<u64>) -> Self {
        self.wire = self.wire.sampling(one_of);
        self
    }

    /// Takes the rows of windows that have ended: one as it ends, or those of a time at once.
    pub fn rows(&mut self, rows: &WindowRows) {
        rows.windows.iter().for_each(|row| self.wire.window(row));
        rows.events.iter().for_each(|row| self.wire.event(row));
        rows.connections.iter().for_each(|row| self.wire.connection(row));
        let Some(analyzer) = &mut self.windows else { return };
        rows.events.iter().for_each(|row| analyzer.event(row));
        rows.connections.iter().for_each(|row| analyzer.connection(row));
        let mut flows: BTreeMap<i64, Vec<&FlowRow>> = BTreeMap::new();
        for row in &rows.windows {
            flows.entry(row.window_start_ns).or_default();
        }
        for row in &rows.flows {
            flows.entry(row.window_start_ns).or_default().push(row);
        }
        // All observers have reported what is before.
        let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
        for row in &rows.windows {
            let newest_ns = newest.entry(&row.observer).or_insert(i64::MIN);
            *newest_ns = (*newest_ns).max(row.window_start_ns);
        }
        let complete_ns = newest.into_values().min().unwrap_or(i64::MIN);
        // A window after the other, so that few are open at a time.
        for (start_ns, flows) in flows {
            flows.into_iter().for_each(|row| analyzer.flow(row));
            // An event that a timer shows comes after its window.
            let watermark = Time(start_ns.min(complete_ns).saturating_sub(LATE_NS));
            while let Some(window) = analyzer.advance_one(watermark) {
                self.faults.note(window.changes);
            }
        }
    }

    /// The incidents of all rows, after the last one.
    #[must_use]
    pub fn document(&mut self) -> Document {
        if let Some(analyzer) = &mut self.windows {
            while let Some(window) = analyzer.finish_one() {
                self.faults.note(window.changes);
            }
        }
        self.current()
    }

    /// The incidents of the windows that have ended; more rows may follow.
    #[must_use]
    pub fn current(&self) -> Document {
        let open = self.windows.as_ref().map(Analyzer::open_faults).unwrap_or_default();
        let found = self.wire.find();
        let mut incidents = found.incidents;
        let mut of_windows = self.faults.with(open);
        if found.sampled_one_of.is_some() {
            of_windows.retain(is_known_of_a_sample);
        }
        let (of_windows, note) = without_counters(of_windows.iter());
        incidents.extend(of_windows);
        let incidents = join(incidents, &self.wire);
        let mut notes = found.notes;
        notes.extend(note);
        notes.extend(self.wire.marks(&incidents));
        Document {
            incidents,
            judged: self.wire.judged().into_iter().collect(),
            notes,
            sampled_one_of: found.sampled_one_of,
        }
    }
}
