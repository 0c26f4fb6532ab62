//! What has become of frames.

/// What has become of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Given to the kernel.
    pub offered: u64,
    /// Taken by the driver, to be sent.
    pub accepted: u64,
    /// Refused by the driver: its queue was full.
    pub dropped: u64,
}

impl Sent {
    /// Refused before they came to the driver: the interface is down, the frame too long for it.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.offered
            .saturating_sub(self.accepted)
            .saturating_sub(self.dropped)
    }
}
