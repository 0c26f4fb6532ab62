//! Durations and thresholds.

use core::fmt;

/// Settings of the analysis. The defaults are those of Hostmesh where the paper gives a number;
/// `docs/hostmesh-analysis-method.md` explains the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The length of a window: 20 s.
    pub window_ns: i64,
    /// How long a NIC stays anomalous after its window: 1 minute.
    pub sticky_ns: i64,
    /// A NIC is anomalous when more than this percentage of the probes to it time out: 10.
    pub nic_percent: u64,
    /// The minimum number of probes to judge a NIC, a link or a host: 10.
    pub min_probes: u64,
    /// The minimum number of probes in a window for a verdict on any place: 100. Loss is stated all the same.
    pub min_window: u64,
    /// Algorithm 1 votes only if more drops than this are switch problems: 4. No verdict on a place rests on fewer, unless it lost
    /// packets in the window before.
    pub max_ignored: u64,
    /// The share of probes that a healthy fabric may lose: 1 in 10,000.
    pub background: f64,
    /// The accepted number of false verdicts per window: 1 in 1,000,000.
    pub chance: f64,
    /// The minimum excess over the baseline that makes a probe late: 20 us. The history of the path and the error of
    /// the clocks may raise it.
    pub min_late_ns: i64,
    /// A place is congested, or a host slow, if this share of its probes is late: 0.3.
    pub late_share: f64,
    /// The maximum number of verdicts of one symptom per window: 64.
    pub max_verdicts: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window_ns: 20_000_000_000,
            sticky_ns: 60_000_000_000,
            nic_percent: 10,
            min_probes: 10,
            min_window: 100,
            max_ignored: 4,
            background: 1e-4,
            chance: 1e-6,
            min_late_ns: 20_000,
            late_share: 0.3,
            max_verdicts: 64,
        }
    }
}

impl Settings {
    /// Divides every duration by `factor`, for fabrics that probe faster.
    #[must_use]
    pub fn scaled(mut self, factor: i64) -> Self {
        self.window_ns /= factor.max(1);
        self.sticky_ns /= factor.max(1);
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        let share = |share: f64| share > 0.0 && share < 1.0;
        if self.window_ns < 1_000 || self.window_ns > LONGEST_NS {
            Err(SettingsError("the window must be 1 us to 17 minutes long"))
        } else if self.sticky_ns < 0 {
            Err(SettingsError("the time that a NIC stays anomalous cannot be negative"))
        } else if self.nic_percent >= 100 {
            Err(SettingsError("the percentage of timeouts must be below 100"))
        } else if !(share(self.background) && share(self.chance) && share(self.late_share)) {
            Err(SettingsError("a share must be between 0 and 1"))
        } else {
            Ok(())
        }
    }
}

/// The longest window: its microseconds fit into 30 bits.
const LONGEST_NS: i64 = 1_020_000_000_000;

/// Invalid settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsError(&'static str);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for SettingsError {}
