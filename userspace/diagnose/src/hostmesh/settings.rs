//! Lengths of time and thresholds.

use core::fmt;

/// How probes are analysed. The defaults are those of Hostmesh where the paper gives a number; which it
/// does not give, and why ours are what they are, is in `docs/hostmesh.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Length of a window: 20 s.
    pub window_ns: i64,
    /// How long after a window its anomalous NICs stay so: 1 minute.
    pub sticky_ns: i64,
    /// A NIC is anomalous when more than this percentage of the probes to it time out: 10.
    pub nic_percent: u64,
    /// Fewer probes than these say nothing about a NIC, link or host: 10.
    pub least_probes: u64,
    /// Fewer probes in the whole window give no verdict at all: 100.
    pub least_window: u64,
    /// Algorithm 1 votes when more drops than these are switch problems: 4. No verdict rests on fewer.
    pub most_ignored: u64,
    /// Share of probes that a healthy fabric may lose: 1 in 10,000.
    pub background: f64,
    /// Verdicts by chance in a window that are borne: 1 in 1,000,000.
    pub chance: f64,
    /// A probe is late only when so much longer under way than usual: 20 us, or what the path's history and
    /// the clocks' error ask for, if that is more.
    pub least_late_ns: i64,
    /// A place is congested, or a host slow, when this share of its probes is late: 0.3.
    pub late_share: f64,
    /// Most verdicts of one symptom in a window: 64.
    pub most_verdicts: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window_ns: 20_000_000_000,
            sticky_ns: 60_000_000_000,
            nic_percent: 10,
            least_probes: 10,
            least_window: 100,
            most_ignored: 4,
            background: 1e-4,
            chance: 1e-6,
            least_late_ns: 20_000,
            late_share: 0.3,
            most_verdicts: 64,
        }
    }
}

impl Settings {
    /// The same with every length of time divided by `factor`, for fabrics that run faster.
    #[must_use]
    pub fn scaled(mut self, factor: i64) -> Self {
        self.window_ns /= factor.max(1);
        self.sticky_ns /= factor.max(1);
        self
    }

    /// Whether an analysis can run with them.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        let share = |share: f64| share > 0.0 && share < 1.0;
        if self.window_ns < 1_000 || self.window_ns > LONGEST_NS {
            Err(SettingsError("a window is from 1 us to 17 minutes long"))
        } else if self.sticky_ns < 0 {
            Err(SettingsError(
                "NICs cannot stay anomalous for less than no time",
            ))
        } else if self.nic_percent >= 100 {
            Err(SettingsError(
                "more than 100 % of the probes cannot time out",
            ))
        } else if !(share(self.background) && share(self.chance) && share(self.late_share)) {
            Err(SettingsError("a share lies between 0 and 1"))
        } else {
            Ok(())
        }
    }
}

/// Microseconds in a window fit into 30 bits.
const LONGEST_NS: i64 = 1_020_000_000_000;

/// Settings that no analysis can run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsError(&'static str);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for SettingsError {}
