//! What the analysis of connections counts of delivery: fabric loss, retransmissions, mirror loss, mirror duplicates, and
//! what it does not know because connections found no room or no time.

/// Counts of packets. [`fabric_lost`](Self::fabric_lost) is the sum of the events of kind `loss`, and of the columns of
/// `connections` that name a place: every loss is counted where its event is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Packets that the network dropped between the sender and the tap.
    pub fabric_lost_upstream_packets: u64,
    /// Packets that the network dropped between the tap and the receiver, or their answers.
    pub fabric_lost_downstream_packets: u64,
    /// Packets of connections that ended while their senders repeated them and nothing answered: whether they or their
    /// answers were lost is unknown.
    pub unresolved_packets: u64,
    /// Packets that their senders retransmitted, requests and responses.
    pub retransmitted_packets: u64,
    /// Packets that an endpoint acknowledged and the mirror did not deliver.
    pub mirror_lost_packets: u64,
    /// Packets that the mirror duplicated.
    pub mirror_duplicate_packets: u64,
    /// Packets of directions that are not tracked because the memory was full: their losses are unknown.
    pub untracked_packets: u64,
    /// Packets that a live capture left out of connections because it fell behind: their losses are unknown.
    pub yielded_packets: u64,
}

impl Delivery {
    /// Fabric loss on both sides of the tap, in packets.
    #[must_use]
    pub const fn fabric_lost(&self) -> u64 {
        self.fabric_lost_upstream_packets + self.fabric_lost_downstream_packets
    }

    /// Mirror loss relative to lost and seen packets; `None` if there are none.
    #[must_use]
    pub fn mirror_loss_ratio(&self, seen_packets: u64) -> Option<f64> {
        let all = self.mirror_lost_packets + seen_packets;
        (all > 0).then(|| self.mirror_lost_packets as f64 / all as f64)
    }

    /// The difference since `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        const fn grown(now: u64, before: u64) -> u64 {
            now.saturating_sub(before)
        }
        Self {
            fabric_lost_upstream_packets: grown(self.fabric_lost_upstream_packets, before.fabric_lost_upstream_packets),
            fabric_lost_downstream_packets: grown(
                self.fabric_lost_downstream_packets,
                before.fabric_lost_downstream_packets,
            ),
            unresolved_packets: grown(self.unresolved_packets, before.unresolved_packets),
            retransmitted_packets: grown(self.retransmitted_packets, before.retransmitted_packets),
            mirror_lost_packets: grown(self.mirror_lost_packets, before.mirror_lost_packets),
            mirror_duplicate_packets: grown(self.mirror_duplicate_packets, before.mirror_duplicate_packets),
            untracked_packets: grown(self.untracked_packets, before.untracked_packets),
            yielded_packets: grown(self.yielded_packets, before.yielded_packets),
        }
    }
}
