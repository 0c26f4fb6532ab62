//! Sums over all windows, and the peak windows.

use crate::report::Period;
use rocescope_model::{Over, Row, WindowRow};

/// The highest rate of a window, and the start of that window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Peak {
    /// Bits or packets per second.
    pub rate: f64,
    /// Start of the window, in nanoseconds since 1970.
    pub start_ns: i64,
}

/// Sums over all windows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// The sums, by the rules of the columns.
    pub sums: WindowRow,
    /// Number of windows; a window of several observers counts once.
    pub windows: u64,
    /// Start of the first window, in nanoseconds since 1970.
    pub start_ns: i64,
    /// End of the last window.
    pub end_ns: i64,
    /// Total length of the windows: time without frames has no windows.
    pub covered_ns: i64,
    /// Shortest and longest window.
    pub window_ns: (i64, i64),
    /// The window with the highest frame rate.
    pub peak_bps: Peak,
    /// The window with the highest packet rate.
    pub peak_pps: Peak,
}

impl Totals {
    /// Adds a window, after all that started earlier.
    pub(super) fn window(&mut self, period: &Period) {
        let (start_ns, length) = (period.sums.window_start_ns, period.sums.window_ns);
        if self.windows == 0 {
            self.sums = period.sums.clone();
            self.start_ns = start_ns;
            self.window_ns = (length, length);
        } else {
            self.sums.merge(&period.sums, Over::Time);
            let (shortest, longest) = self.window_ns;
            self.window_ns = (shortest.min(length), longest.max(length));
        }
        self.windows += 1;
        self.end_ns = self.end_ns.max(start_ns.saturating_add(length));
        self.covered_ns = self.covered_ns.saturating_add(length);
        for (peak, rate) in [
            (&mut self.peak_bps, period.peak_bps),
            (&mut self.peak_pps, period.peak_pps),
        ] {
            if rate > peak.rate {
                *peak = Peak { rate, start_ns };
            }
        }
    }

    /// Returns the time from the start of the first window to the end of the last.
    #[must_use]
    pub const fn span_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Returns the mean frame rate of the windows.
    #[must_use]
    pub fn mean_bps(&self) -> f64 {
        self.sums.frame_bytes as f64 * 8e9 / self.covered_ns.max(1) as f64
    }

    /// Returns the mean packet rate of the windows.
    #[must_use]
    pub fn mean_pps(&self) -> f64 {
        self.sums.roce_packets as f64 * 1e9 / self.covered_ns.max(1) as f64
    }

    /// Returns the parts of the loss identity with the names of their columns.
    #[must_use]
    pub const fn parts(&self) -> [(&'static str, u64); 7] {
        let sums = &self.sums;
        [
            ("roce_packets", sums.roce_packets),
            ("not_roce_frames", sums.not_roce_frames),
            ("malformed_frames", sums.malformed_frames),
            ("fragment_frames", sums.fragment_frames),
            ("filtered_frames", sums.filtered_frames),
            ("snapped_frames", sums.snapped_frames),
            ("capture_lost_packets", sums.capture_lost_packets),
        ]
    }

    /// Returns frames seen minus frames accounted for: 0 if the loss identity holds.
    #[must_use]
    pub fn unaccounted_frames(&self) -> i64 {
        let parts: u64 = self.parts().iter().map(|(_, count)| count).sum();
        self.sums.frames.cast_signed().wrapping_sub(parts.cast_signed())
    }

    /// Whether the dataset accounts for all frames that reached the capture.
    #[must_use]
    pub fn complete(&self) -> bool {
        let lost = self.sums.capture_lost_packets + self.sums.capture_dropped_frames.unwrap_or(0);
        self.unaccounted_frames() == 0 && lost == 0
    }
}
