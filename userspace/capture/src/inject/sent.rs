//! Counts of sent and refused frames.

/// Counts of sent and refused frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Passed to the kernel.
    pub offered: u64,
    /// Accepted by the driver.
    pub accepted: u64,
    /// Refused by the driver: its queue was full.
    pub dropped: u64,
}

impl Sent {
    /// Refused before the driver: the interface is down, or the frame is too long for it.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.offered.saturating_sub(self.accepted).saturating_sub(self.dropped)
    }
}
