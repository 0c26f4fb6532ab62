//! What a mirror port did to the traffic: packets it lost, packets it duplicated.

/// Packets that a mirror port lost, and packets that it duplicated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirror {
    /// Packets that an endpoint acknowledged and the mirror never showed.
    pub lost_packets: u64,
    /// Packets that it duplicated.
    pub duplicate_packets: u64,
}

impl Mirror {
    /// `lost_packets` as a share of those and the packets that were seen; `None` where there were none.
    #[must_use]
    pub fn loss_ratio(&self, seen_packets: u64) -> Option<f64> {
        let all = self.lost_packets + seen_packets;
        (all > 0).then(|| self.lost_packets as f64 / all as f64)
    }

    /// What came behind `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            lost_packets: self.lost_packets.saturating_sub(before.lost_packets),
            duplicate_packets: self
                .duplicate_packets
                .saturating_sub(before.duplicate_packets),
        }
    }
}
