//! Whom the NICs of a mesh probe: a *pinglist* for each host, as R-Pingmesh (SIGCOMM 2024) calls it.
//!
//! A NIC probes some NICs of its own switch, which crosses the links of both, and some of other switches, which crosses the
//! links between switches. Switches choose among their links by a hash of the 5-tuple, so one 5-tuple shows one path.
//! With enough 5-tuples each link is probed all the same, with a probability that is known ([`chance`]).
//!
//! | module | contents |
//! |---|---|
//! | [`attachments`] | the switch of each NIC, and the ways on from there |
//! | `ring` | NICs in an order that few changes disturb |
//! | [`mod@plan`] | the pinglists of all hosts |

pub mod attachments;
pub mod plan;
mod ring;

pub use attachments::Attachments;
pub use plan::{Coverage, Host, Least, Plan, plan};

use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// NICs of other switches that a NIC probes at a time.
pub const FAR: usize = 4;
/// All NICs that it probes at a time.
pub const TARGETS: usize = 6;
/// The fewest and the most source ports for each of them.
pub const PORTS: (u16, u16) = (2, 4);

/// The NICs of other hosts that the NICs of a host probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinglist {
    /// Those of each NIC.
    pub nics: Vec<NicPinglist>,
    /// DSCPs that the source ports take in turn; empty for those of the host.
    pub dscps: Vec<u8>,
}

/// The NICs that a NIC probes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicPinglist {
    /// Its address.
    pub nic: IpAddr,
    /// UDP source ports for each target.
    pub ports: u16,
    /// The targets.
    pub targets: Vec<Target>,
}

/// A NIC that is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its address.
    pub address: IpAddr,
    /// The same number for all NICs of a host.
    pub host: u32,
    /// When it changes, the source ports are drawn again.
    pub turn: i64,
}

/// The probability that a link is crossed by at least one of `tuples` 5-tuples that a hash spreads over `ways` links:
/// 1 - (1 - 1/ways)^tuples.
#[must_use]
pub fn chance(ways: usize, tuples: usize) -> f64 {
    match ways {
        0 => 0.0,
        ways => 1.0 - libm::pow(1.0 - 1.0 / ways as f64, tuples as f64),
    }
}

/// The fewest 5-tuples that cross a link with this probability (below 1).
#[must_use]
pub fn tuples_for(ways: usize, chance: f64) -> usize {
    match ways {
        0 | 1 => ways,
        ways => libm::ceil(libm::log(1.0 - chance) / libm::log(1.0 - 1.0 / ways as f64)) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::{chance, tuples_for};

    #[test]
    fn as_many_5_tuples_as_the_probability_takes() {
        for (ways, tuples) in [(1, 1), (2, 7), (12, 53), (32, 146), (64, 293)] {
            assert_eq!(tuples_for(ways, 0.99), tuples, "{ways}");
            assert!(chance(ways, tuples) >= 0.99 && (ways == 1 || chance(ways, tuples - 1) < 0.99));
        }
        assert_eq!((chance(0, 9), tuples_for(0, 0.99)), (0.0, 0));
    }
}
