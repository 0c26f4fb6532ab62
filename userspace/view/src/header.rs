//! What only the source of the windows knows: its name, mode, motion and losses, and what this process uses.

use rocescope_model::Time;

/// What the header shows beside the sums of the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Interfaces, file or dataset.
    pub source: String,
    /// How frames were captured: `xdp native`, `af_packet`, `file`, `dataset` and so on.
    pub mode: String,
    /// How time passes.
    pub motion: Motion,
    /// The newest data of a source that others write; `None` where nothing newer can follow.
    pub newest: Option<Newest>,
    /// Losses that the windows do not contain.
    pub losses: Losses,
    /// What this process uses; `None` until it is measured.
    pub own: Option<ProcessUsage>,
    /// Why connections are not tracked, if they are not.
    pub no_connections: Option<String>,
    /// Why there is no probe mesh, if there is none.
    pub no_mesh: Option<String>,
    /// Why there are no counters of hosts, if there are none.
    pub no_counters: Option<String>,
    /// Why no incidents are known, if they are not.
    pub no_incidents: Option<String>,
    /// Why there are no loopback tests inside hosts, if there are none.
    pub no_loopback: Option<String>,
}

/// The newest data of a dataset that others write, and how old they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newest {
    /// Their end.
    pub end: Time,
    /// The age from which on they are stale: the writer has probably ended, or receives nothing.
    pub stale_ns: i64,
    /// The time now.
    pub now: Time,
}

impl Newest {
    /// The age in nanoseconds; 0 if the clock of the writer is ahead.
    #[must_use]
    pub const fn age_ns(&self) -> i64 {
        let age_ns = self.now.0.saturating_sub(self.end.0);
        if age_ns > 0 { age_ns } else { 0 }
    }

    /// Whether they are older than expected.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.age_ns() > self.stale_ns
    }
}

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Motion {
    /// Live.
    #[default]
    Live,
    /// A multiple of the recorded speed; infinity for full speed.
    Speed(f64),
    /// Paused by the user.
    Paused,
    /// The input has ended.
    Ended,
}

/// Losses outside of the windows since the start; `None` if they do not apply or are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Whether the source is an interface: the next two apply only then.
    pub live: bool,
    /// Frames dropped by the interface.
    pub interface_frames: Option<u64>,
    /// Frames dropped between interface and program.
    pub socket_frames: Option<u64>,
    /// Windows that arrived faster than the view could show them; no table contains them.
    pub windows_not_shown: u64,
}

/// What this process uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessUsage {
    /// CPU time per second: 1 is one core.
    pub cpu_ratio: f64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
}
