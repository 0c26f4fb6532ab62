//! Delays, and the clocks that measure them.

use crate::random::{Draws, mix};
use crate::topology::Nic;

/// Delays of a fabric without faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Delay of a link and the switch at its end: propagation, serialisation, forwarding.
    pub link_ns: i64,
    /// Mean of the exponentially distributed total wait in all queues of a route.
    pub queues_ns: i64,
    /// Minimum time from the agent to the NIC, and from the NIC to the agent.
    pub host_ns: i64,
    /// Mean of the exponentially distributed extra time, for each of the two.
    pub host_noise_ns: i64,
}

impl Default for Timing {
    /// The magnitudes of the paper's data centre: a few microseconds through three switches, a few more in the host.
    fn default() -> Self {
        Self {
            link_ns: 900,
            queues_ns: 600,
            host_ns: 1_500,
            host_noise_ns: 1_000,
        }
    }
}

/// The clocks of the NICs; the host's clock reads true time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Maximum offset of a clock at time 0.
    pub offset_ns: i64,
    /// Maximum drift of a clock, in parts per 10^9.
    pub drift_ppb: i64,
    /// Chooses the offset and drift of each NIC.
    pub seed: u64,
}

impl Clocks {
    /// All clocks are correct.
    pub const RIGHT: Self = Self {
        offset_ns: 0,
        drift_ppb: 0,
        seed: 0,
    };

    /// Returns how far the clock of a NIC is ahead at a time.
    #[must_use]
    pub fn ahead_ns(&self, nic: Nic, at_ns: i64) -> i64 {
        let mut draws = Draws::new(mix(&[self.seed, u64::from(nic.0)]));
        let offset = between(&mut draws, self.offset_ns);
        let drift = between(&mut draws, self.drift_ppb);
        // Seconds first: nanoseconds since 1970 times a drift would overflow.
        let (seconds, rest) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        offset + seconds * drift + rest * drift / 1_000_000_000
    }

    /// Returns the reading of a NIC's clock at a time.
    #[must_use]
    pub fn reads_ns(&self, nic: Nic, at_ns: i64) -> i64 {
        at_ns + self.ahead_ns(nic, at_ns)
    }
}

/// A number from `-max` to `max`.
fn between(draws: &mut Draws, max: i64) -> i64 {
    let max = u32::try_from(max).unwrap_or(u32::MAX / 2 - 1);
    let span = max.saturating_mul(2).saturating_add(1);
    i64::from(draws.below(span)) - i64::from(max)
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
