//! The size of a fabric; builds its topology.

use crate::topology::Topology;
use alloc::string::String;
use core::fmt;

/// A rail-optimised cluster as in Hostmesh, section 2.3: NIC `k` of every host of a group is connected to rail switch
/// `k` of that group. With two tiers, every rail switch is connected to every spine. With three, every rail switch is
/// connected to all upper rail switches of its own rail, and those to every spine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rails {
    /// Hosts of the cluster.
    pub hosts: u32,
    /// NICs per host, which is the number of rails.
    pub nics: u32,
    /// Hosts that share a set of rail switches; the last group may have fewer.
    pub hosts_a_group: u32,
    /// Upper rail switches per rail; 0 means two tiers.
    pub uppers: u32,
    /// Spines.
    pub spines: u32,
    /// Use IPv6 addresses instead of IPv4.
    pub ipv6: bool,
}

impl Rails {
    /// Two tiers, one group, IPv4.
    #[must_use]
    pub const fn two_tiers(hosts: u32, nics: u32, spines: u32) -> Self {
        Self {
            hosts,
            nics,
            hosts_a_group: hosts,
            uppers: 0,
            spines,
            ipv6: false,
        }
    }

    /// Three tiers, IPv4.
    #[must_use]
    pub const fn three_tiers(hosts: u32, nics: u32, hosts_a_group: u32, uppers: u32, spines: u32) -> Self {
        Self {
            hosts,
            nics,
            hosts_a_group,
            uppers,
            spines,
            ipv6: false,
        }
    }

    /// The number of groups, each with its own set of rail switches.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.hosts.div_ceil(self.hosts_a_group)
    }

    /// Builds the topology.
    ///
    /// # Errors
    /// A required number is 0, or there are more links than addresses (2^22).
    pub fn build(self) -> Result<Topology, RailsError> {
        let needed = [
            ("hosts", self.hosts),
            ("NICs", self.nics),
            ("hosts per group", self.hosts_a_group),
            ("spines", self.spines),
        ];
        if let Some((what, _)) = needed.into_iter().find(|(_, number)| *number == 0) {
            return Err(RailsError::None(what));
        }
        let links = u64::from(self.hosts) * u64::from(self.nics)
            + u64::from(self.groups()) * u64::from(self.nics) * u64::from(self.uppers.max(self.spines))
            + u64::from(self.nics) * u64::from(self.uppers) * u64::from(self.spines);
        if links > MAX_LINKS {
            return Err(RailsError::TooLarge(links));
        }
        Ok(Topology::new(self))
    }
}

/// Two addresses per link fit into 10.0.0.0/9.
const MAX_LINKS: u64 = 1 << 22;

/// Why a fabric cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RailsError {
    /// A fabric needs at least one of these.
    None(&'static str),
    /// There are fewer addresses than this number of links needs.
    TooLarge(u64),
}

impl fmt::Display for RailsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None(what) => write!(f, "the number of {what} must be at least 1"),
            Self::TooLarge(links) => {
                write!(f, "{links} links: the addresses suffice for {MAX_LINKS}")
            }
        }
    }
}

impl core::error::Error for RailsError {}

/// Name of a rail switch: `r0`, or `g1r0` with several groups.
pub(crate) fn rail_switch(groups: u32, group: u32, rail: u32) -> String {
    match groups {
        1 => alloc::format!("r{rail}"),
        _ => alloc::format!("g{group}r{rail}"),
    }
}
