//! What only the source of the windows knows: its name, mode, motion and losses, and what this process uses.

/// What the header shows beside the sums of the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Interfaces, file or dataset.
    pub source: String,
    /// How frames were captured: `xdp native`, `af_packet`, `file`, `dataset` and so on.
    pub mode: String,
    /// How time passes.
    pub motion: Motion,
    /// Losses that the windows do not contain.
    pub losses: Losses,
    /// What this process uses; `None` until it is measured.
    pub own: Option<ProcessUsage>,
    /// Why connections are not tracked, if they are not.
    pub no_connections: Option<String>,
    /// Why there is no probe mesh, if there is none.
    pub no_mesh: Option<String>,
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
