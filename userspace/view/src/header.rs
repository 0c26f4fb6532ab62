//! What only the source of the windows knows: its name, how it moves, what it lost, what it costs.

/// What stands above the tables beside the sums of the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// Interfaces, file or dataset.
    pub source: String,
    /// How frames were taken: `xdp native`, `af_packet`, `file`, `dataset` and so on.
    pub mode: String,
    /// How time passes.
    pub motion: Motion,
    /// What was lost beside what the windows tell.
    pub losses: Losses,
    /// What this process uses; nothing before it was measured.
    pub own: Option<Own>,
    /// Why connections are not followed, where they are not.
    pub no_connections: Option<String>,
    /// Why there is no mesh of probes, where there is none.
    pub no_mesh: Option<String>,
}

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Motion {
    /// As it comes.
    #[default]
    Live,
    /// So many times as fast as recorded; infinity where as fast as can be.
    Speed(f64),
    /// Held by the user.
    Paused,
    /// The input is over.
    Ended,
}

/// What was lost outside of the windows, since the beginning; nothing where it does not apply or is
/// not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Whether the source is an interface, so that the two below mean something.
    pub live: bool,
    /// Frames dropped by the interface.
    pub interface_frames: Option<u64>,
    /// Frames dropped between interface and program.
    pub socket_frames: Option<u64>,
    /// Windows that came faster than they could be shown; they are in no table here.
    pub windows_not_shown: u64,
}

/// What this process uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Own {
    /// Processor time a second: 1 is one core.
    pub cpu_ratio: f64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
}
