//! The counters of this host, beside a live capture.

use rocescope_host::counters::{Moment, Reader, Rows, Sources, Wanted};
use rocescope_model::host_ports::{RECENT_NS, host_ports, is_error};
use rocescope_model::{CounterRow, HostPortRow, WindowRow};
use std::time::Instant;

/// Reads this host once for each window.
pub(super) struct ThisHost {
    reader: Reader,
    begun: Instant,
    /// Errors and events of the last minute.
    recent: Vec<CounterRow>,
}

impl ThisHost {
    pub(super) fn new(observer: &str) -> Self {
        Self {
            reader: Reader::new(Sources::this_host(), Wanted::default(), observer),
            begun: Instant::now(),
            recent: Vec::new(),
        }
    }

    /// The ports of this host now, as those of a window that has just ended.
    pub(super) fn read(&mut self, window: &WindowRow) -> Vec<HostPortRow> {
        let moment = Moment {
            time: rocescope_runtime::clock::now(),
            clock: self.begun.elapsed(),
        };
        let mut rows = Vec::new();
        self.reader.read(moment, Rows::All, &mut |row| rows.push(row));
        // A window ends before its rows are shown: the read counts as of its end.
        let start_ns = moment.time.0.saturating_sub(window.window_ns).saturating_add(1);
        let oldest_ns = moment.time.0.saturating_sub(RECENT_NS);
        self.recent.retain(|row| row.time_ns > oldest_ns);
        let new = rows.iter().filter(|row| is_error(row) || is_event(row));
        let new: Vec<CounterRow> = new.cloned().collect();
        rows.append(&mut self.recent.clone());
        self.recent.extend(new);
        host_ports(&rows, start_ns, window.window_ns)
    }
}

/// Whether something happened to its device or its value; every counter has a first read.
fn is_event(row: &CounterRow) -> bool {
    row.event.as_deref().is_some_and(|event| event != "first")
}
