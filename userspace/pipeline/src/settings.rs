//! Settings of the pipeline.

use crate::anonymize::AddressMap;
use crate::connections::settings::ConnectionSettings;
use crate::filter::RunFilter;
use crate::spray::FlowKeyMode;
use alloc::sync::Arc;
use rocescope_model::Text;

/// Window length, bounds and thresholds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the observer, in every row.
    pub observer: Text,
    /// Length of a window in nanoseconds.
    pub window_ns: u64,
    /// How long a window stays open after its end for out-of-order packets, in nanoseconds of event time.
    pub lateness_ns: u64,
    /// What a live source of frames adds; `None` for files.
    pub live: Option<LiveSource>,
    /// Flows that are counted exactly, in a window and in the whole capture; sketches count the others. 112 bytes each.
    pub exact_flows: usize,
    /// Top flows of the summary.
    pub top: usize,
    /// Top flows of each window that become rows of `flows`.
    pub flow_rows: usize,
    /// Flows below the elephant threshold that each window names, smallest first; 0 for none.
    pub small_flows: usize,
    /// Rows of `spread` of each window.
    pub spread_rows: usize,
    /// Frame bits per second from which a flow is an elephant.
    pub elephant_bps: f64,
    /// The change of an elephant between adjacent windows that is an event.
    pub jitter: Jitter,
    /// Whether the bitmap and the Count-Min tables become part of the rows.
    pub sketches: bool,
    /// Whether ICRCs are verified: their counts are known only then.
    pub verify_icrc: bool,
    /// The maximum number of events of a window that become rows; the others are only counted.
    pub event_rows: usize,
    /// Settings of connection tracking; `None` disables it.
    pub connections: Option<ConnectionSettings>,
    /// The packets to count; `None`: all.
    pub filter: Option<RunFilter>,
    /// Whether UDP source ports separate flows.
    pub flow_key: FlowKeyMode,
    /// The number of packets for each that the mirror delivers, as its operator states; `None`: all, or unknown.
    pub mirror_sampling: Option<u64>,
    /// Replaces addresses, after the filter; `None` keeps them.
    pub addresses: Option<Arc<dyn AddressMap>>,
}

/// What a live source of frames has and a file has not: a clock that runs without frames, and capture loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSource {
    /// Maximum time by which a run may extend past the end of its window, in nanoseconds: a jiffy with XDP, 0 where
    /// every frame has its own timestamp.
    pub run_slack_ns: u64,
    /// Whether frames may be dropped before they are classified, as a packet socket does.
    pub drops_frames: bool,
}

/// Thresholds of the change between adjacent windows; if both are set, both must be exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Relative to the rate before.
    pub relative: Option<f64>,
    /// Frame bits per second.
    pub absolute_bps: Option<f64>,
}

impl Default for Settings {
    /// One-second windows. The elephant and jitter thresholds are a fifth of those of the Fudan
    /// paper's scenario 3 (5 and 2.5 Gbit/s on a 100 Gbit/s fabric).
    fn default() -> Self {
        Self {
            observer: Text::from_static("local"),
            window_ns: 1_000_000_000,
            lateness_ns: 1_000_000_000,
            live: None,
            exact_flows: 131_072,
            top: 20,
            flow_rows: 1_000,
            small_flows: 0,
            spread_rows: 4_096,
            elephant_bps: 1e9,
            jitter: Jitter {
                relative: Some(0.5),
                absolute_bps: Some(0.5e9),
            },
            sketches: true,
            verify_icrc: false,
            event_rows: 10_000,
            connections: Some(ConnectionSettings::default()),
            filter: None,
            mirror_sampling: None,
            flow_key: FlowKeyMode::Auto,
            addresses: None,
        }
    }
}

/// Why settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The length of a window is out of range.
    #[error("a window must last between 1 ms and 366 days: each costs memory and a row of every table")]
    Window,
    /// Too many windows would be open.
    #[error("the lateness must be at most 10,000 windows: all of them stay open in memory")]
    Lateness,
    /// No flow could be counted.
    #[error("at least one flow must be counted exactly")]
    ExactFlows,
}

impl Settings {
    /// Checks them.
    ///
    /// # Errors
    /// Which bound they violate.
    pub fn check(&self) -> Result<(), SettingsError> {
        const SHORTEST_NS: u64 = 1_000_000;
        const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
        const MAX_OPEN: u64 = 10_000;
        if !(SHORTEST_NS..=YEAR_NS).contains(&self.window_ns) {
            return Err(SettingsError::Window);
        }
        if self.lateness_ns / self.window_ns > MAX_OPEN {
            return Err(SettingsError::Lateness);
        }
        if self.exact_flows == 0 {
            return Err(SettingsError::ExactFlows);
        }
        Ok(())
    }

    /// What separates flows: also their ports if the filter is about ports.
    #[must_use]
    pub fn effective_flow_key(&self) -> FlowKeyMode {
        match &self.filter {
            Some(filter) if filter.names_port() => FlowKeyMode::Port,
            _ => self.flow_key,
        }
    }

    /// Bits per second of `bytes` in one window.
    #[must_use]
    pub fn bps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8e9 / self.window_ns as f64
    }
}
