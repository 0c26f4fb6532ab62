//! Ports that pause their link for much of the time.

use super::{Found, View};
use crate::incidents::incident::{Certainty, Incident, Source, ToldBy};
use crate::incidents::place::Place;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use rocescope_model::human::{self, plural};
use rocescope_model::{EventRow, Unit, Value, WindowRow};

/// The share of the windows with pauses in which a port pauses its link, as for the counters of hosts: these drain their
/// buffers in microseconds.
const PAUSED: f64 = 0.01;
/// Ports and priorities that are kept.
const MAX_PORTS: usize = 4_096;

/// Pauses of each port and priority.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    all: BTreeMap<String, Pause>,
    /// The length of a window.
    window_ns: i64,
}

#[derive(Debug)]
struct Pause {
    frames: u64,
    paused_ns: f64,
    windows: u64,
    first_ns: i64,
    last_ns: i64,
}

impl Pauses {
    pub(super) fn window(&mut self, row: &WindowRow) {
        self.window_ns = self.window_ns.max(row.window_ns);
    }

    pub(super) fn add(&mut self, row: &EventRow) {
        let name = row.syndrome.as_deref().unwrap_or_default();
        if self.all.len() >= MAX_PORTS && !self.all.contains_key(name) {
            return;
        }
        let pause = self.all.entry(name.to_string()).or_insert(Pause {
            frames: 0,
            paused_ns: 0.0,
            windows: 0,
            first_ns: row.time_ns,
            last_ns: row.time_ns,
        });
        pause.frames += row.count;
        pause.paused_ns += row.value.unwrap_or(0.0);
        pause.windows += 1;
        pause.first_ns = pause.first_ns.min(row.time_ns);
        pause.last_ns = pause.last_ns.max(row.time_ns);
    }

    /// Forgets what has not gone on since.
    pub(super) fn forget(&mut self, before_ns: i64) {
        self.all.retain(|_, pause| pause.last_ns >= before_ns);
    }
}

pub(super) fn find(view: &View<'_>, pauses: &Pauses, found: &mut Found) {
    for (name, pause) in &pauses.all {
        let windows_ns = pause.windows as f64 * pauses.window_ns as f64;
        let share = pause.paused_ns / windows_ns.max(1.0);
        if share < PAUSED || pauses.window_ns == 0 {
            continue;
        }
        let paused = human::readable(&Value::I64(pause.paused_ns as i64), Unit::Nanoseconds);
        let mut incident = Incident::new(
            "pause_storm",
            Place::named("port", name.as_str()),
            ToldBy::Wire,
            Source::Capture,
        );
        incident.since_ns = pause.first_ns;
        incident.until_ns = pause.last_ns;
        incident.is_open = view.is_open(pause.last_ns);
        incident.certainty = Certainty::Likely;
        incident.meaning = format!(
            "it pauses its link: {}, for {paused} or less of {} with pauses ({:.0} %)",
            plural(pause.frames, "frame"),
            plural(pause.windows, "window"),
            100.0 * share.min(1.0)
        );
        incident.reason =
            "its own pause frames. Whether it is paused itself, and passes that on, is not seen here".to_string();
        incident.action = "find the port of this MAC address: a NIC that pauses has a slow host behind it (PCIe, memory, GPU); a switch \
                           port passes on what is paused further on"
            .to_string();
        incident.rests_on("events", name.as_str(), "pause", pause.paused_ns, "ns");
        found.incidents.push(incident);
    }
}
