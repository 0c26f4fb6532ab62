//! How long things take, and the clocks that say so.

use crate::random::{Draws, mix};
use crate::topology::Nic;

/// Delays of a fabric without faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// A link and the switch behind it: propagation, serialisation, forwarding.
    pub link_ns: i64,
    /// Mean of the exponentially distributed wait in all queues of a route together.
    pub queues_ns: i64,
    /// The least time from the agent to the NIC, and again from the NIC to the agent.
    pub host_ns: i64,
    /// Mean of the exponentially distributed time on top, each time.
    pub host_noise_ns: i64,
}

impl Default for Timing {
    /// Figures of the size that the paper's data centre has: a few microseconds through three switches, a few
    /// more in the host.
    fn default() -> Self {
        Self {
            link_ns: 900,
            queues_ns: 600,
            host_ns: 1_500,
            host_noise_ns: 1_000,
        }
    }
}

/// What the NICs' clocks read, beside the host's, which reads true time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// No clock is further off than this, at time 0.
    pub offset_ns: i64,
    /// No clock runs faster or slower than by this many parts in 10^9.
    pub drift_ppb: i64,
    /// Chooses the offset and drift of each NIC.
    pub seed: u64,
}

impl Clocks {
    /// All clocks are right.
    pub const RIGHT: Self = Self {
        offset_ns: 0,
        drift_ppb: 0,
        seed: 0,
    };

    /// How far the clock of a NIC is ahead at a time.
    #[must_use]
    pub fn ahead_ns(&self, nic: Nic, at_ns: i64) -> i64 {
        let mut draws = Draws::new(mix(&[self.seed, u64::from(nic.0)]));
        let offset = between(&mut draws, self.offset_ns);
        let drift = between(&mut draws, self.drift_ppb);
        // Seconds first: nanoseconds since 1970 times a drift do not fit.
        let (seconds, rest) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        offset + seconds * drift + rest * drift / 1_000_000_000
    }

    /// What the clock of a NIC reads at a time.
    #[must_use]
    pub fn reads_ns(&self, nic: Nic, at_ns: i64) -> i64 {
        at_ns + self.ahead_ns(nic, at_ns)
    }
}

/// A number from `-most` to `most`.
fn between(draws: &mut Draws, most: i64) -> i64 {
    let most = u32::try_from(most).unwrap_or(u32::MAX / 2 - 1);
    let span = most.saturating_mul(2).saturating_add(1);
    i64::from(draws.below(span)) - i64::from(most)
}

#[cfg(test)]
mod tests {
    use super::Clocks;
    use crate::Nic;

    #[test]
    fn clocks_drift_at_a_constant_rate_within_their_bounds() {
        let clocks = Clocks {
            offset_ns: 1_000,
            drift_ppb: 50,
            seed: 3,
        };
        for nic in (0..100).map(Nic) {
            let start = clocks.ahead_ns(nic, 0);
            assert!(start.abs() <= 1_000);
            let hour = clocks.ahead_ns(nic, 3_600_000_000_000) - start;
            assert!(hour.abs() <= 50 * 3_600);
            let two = clocks.ahead_ns(nic, 7_200_000_000_000) - start;
            assert_eq!(two, 2 * hour);
            assert_eq!(Clocks::RIGHT.reads_ns(nic, 77), 77);
        }
        let spread = (0..100).map(|nic| clocks.ahead_ns(Nic(nic), 0));
        assert!(spread.clone().max() > Some(500) && spread.min() < Some(-500));
    }
}
