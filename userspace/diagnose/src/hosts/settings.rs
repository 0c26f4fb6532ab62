//! The length of a window, and how long a fault must last and be gone.

use core::fmt;

/// Settings of the analysis. Thresholds stand beside their rules, in `signatures`, for each second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The length of a window: 10 s. Counters should be read at least as often.
    pub window_ns: i64,
    /// A fault is a verdict if it shows in this many of [`SPAN`] windows: 2. One that needs no second sign is a verdict
    /// at once.
    pub windows_to_begin: u32,
    /// A fault ends after this many windows without a sign: 3.
    pub windows_to_end: u32,
}

/// The last windows that rules may add up, and in which a fault must show itself often enough.
pub const SPAN: usize = 3;

impl Default for Settings {
    fn default() -> Self {
        Self {
            window_ns: 10_000_000_000,
            windows_to_begin: 2,
            windows_to_end: 3,
        }
    }
}

impl Settings {
    /// Checks the settings.
    ///
    /// # Errors
    /// Returns the first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingsError> {
        if !(SHORTEST_NS..=LONGEST_NS).contains(&self.window_ns) {
            Err(SettingsError("the window must be 1 s to 10 minutes long"))
        } else if !(1..=SPAN as u32).contains(&self.windows_to_begin) {
            Err(SettingsError("a fault begins after 1 to 3 windows"))
        } else if self.windows_to_end == 0 {
            Err(SettingsError("a fault ends after at least 1 window"))
        } else {
            Ok(())
        }
    }
}

const SHORTEST_NS: i64 = 1_000_000_000;
const LONGEST_NS: i64 = 600_000_000_000;

/// Invalid settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsError(&'static str);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl core::error::Error for SettingsError {}
