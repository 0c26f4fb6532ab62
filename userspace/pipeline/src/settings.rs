//! What a user may choose.

use crate::anonymize::AddressMap;
use crate::connections::settings::ConnectionSettings;
use crate::filter::RunFilter;
use alloc::sync::Arc;
use rocescope_model::Text;

/// Window length, bounds and thresholds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the capture point, in every row.
    pub observer: Text,
    /// Length of a window in nanoseconds.
    pub window_ns: u64,
    /// How long a window stays open for packets that come out of order, in nanoseconds of event
    /// time behind its end.
    pub lateness_ns: u64,
    /// Flows that are counted exactly, in a window and in the whole capture; beyond it sketches
    /// take over. 112 bytes a flow.
    pub exact_flows: usize,
    /// Top flows of the summary.
    pub top: usize,
    /// Top flows of each window that become rows of `flows`.
    pub flow_rows: usize,
    /// Frame bits a second from which a flow is an elephant.
    pub elephant_bps: f64,
    /// What change of an elephant between adjacent windows is an event.
    pub jitter: Jitter,
    /// Whether the bitmap and the Count-Min tables become part of the rows.
    pub sketches: bool,
    /// Whether ICRCs are verified, so that their counts mean something.
    pub verify_icrc: bool,
    /// How many events of a window become rows; the others are only counted.
    pub event_rows: usize,
    /// How connections are followed; `None`: not at all.
    pub connections: Option<ConnectionSettings>,
    /// Which packets are wanted; `None`: all.
    pub filter: Option<RunFilter>,
    /// What stands for each address, behind the filter; `None`: the address itself.
    pub addresses: Option<Arc<dyn AddressMap>>,
}

/// Thresholds of the change between adjacent windows; both must be passed where both are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Share of the rate before.
    pub relative: Option<f64>,
    /// Frame bits a second.
    pub absolute_bps: Option<f64>,
}

impl Default for Settings {
    /// Windows of a second. The elephant and jitter thresholds are a fifth of those of the Fudan
    /// paper's scenario 3 (5 and 2.5 Gbit/s on a 100 Gbit/s fabric).
    fn default() -> Self {
        Self {
            observer: Text::from_static("local"),
            window_ns: 1_000_000_000,
            lateness_ns: 1_000_000_000,
            exact_flows: 131_072,
            top: 20,
            flow_rows: 1_000,
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
            addresses: None,
        }
    }
}

/// Why settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A window has no length, or more than a year.
    #[error("a window must last between 1 ns and 366 days")]
    Window,
    /// The sketches have no shape.
    #[error("the sketches have no shape")]
    Sketches,
    /// Nothing could be counted.
    #[error("at least one flow must be counted exactly")]
    ExactFlows,
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
        if !(1..=YEAR_NS).contains(&self.window_ns) {
            return Err(SettingsError::Window);
        }
        if self.exact_flows == 0 {
            return Err(SettingsError::ExactFlows);
        }
        Ok(())
    }

    /// Bits a second of `bytes` in one window.
    #[must_use]
    pub fn bps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8e9 / self.window_ns as f64
    }
}
