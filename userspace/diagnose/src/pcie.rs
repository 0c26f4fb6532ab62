//! How a `PCIe` link compares with its maximum, in words.

use alloc::format;
use alloc::string::String;

/// Writes speed (in mega transfers a second) and lanes beside their maximum: `8 GT/s x16 of 16 GT/s x16`.
pub(crate) fn of_maximum([speed, lanes, max_speed, max_lanes]: [f64; 4]) -> String {
    format!("{} GT/s x{lanes} of {} GT/s x{max_lanes}", speed / 1e3, max_speed / 1e3)
}
