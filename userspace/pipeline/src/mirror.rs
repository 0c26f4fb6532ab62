//! Mirror loss and mirror duplicates.

/// Counts of mirror loss and mirror duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    /// Packets that an endpoint acknowledged and the mirror did not deliver.
    pub lost_packets: u64,
    /// Packets that the mirror duplicated.
    pub duplicate_packets: u64,
}

impl Mirror {
    /// `lost_packets` relative to lost and seen packets; `None` if there are none.
    #[must_use]
    pub fn loss_ratio(&self, seen_packets: u64) -> Option<f64> {
        let all = self.lost_packets + seen_packets;
        (all > 0).then(|| self.lost_packets as f64 / all as f64)
    }

    /// The difference since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            lost_packets: self.lost_packets.saturating_sub(before.lost_packets),
            duplicate_packets: self.duplicate_packets.saturating_sub(before.duplicate_packets),
        }
    }
}
