//! How large a fabric is, and the topology built from it.

use crate::topology::Topology;
use alloc::string::String;
use core::fmt;

/// A rail-optimised cluster after Hostmesh, section 2.3: NIC `k` of every host of a group hangs on rail
/// switch `k` of that group. With two tiers every rail switch is connected to every spine. With three,
/// every rail switch is connected to all upper rail switches of its own rail, and those to every spine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rails {
    /// Hosts of the cluster.
    pub hosts: u32,
    /// NICs a host: as many rails.
    pub nics: u32,
    /// Hosts that share a set of rail switches; the last group may have fewer.
    pub hosts_a_group: u32,
    /// Upper rail switches a rail; 0 means two tiers.
    pub uppers: u32,
    /// Spines.
    pub spines: u32,
    /// Rail addresses of IPv6 in the place of IPv4.
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
    pub const fn three_tiers(
        hosts: u32,
        nics: u32,
        hosts_a_group: u32,
        uppers: u32,
        spines: u32,
    ) -> Self {
        Self {
            hosts,
            nics,
            hosts_a_group,
            uppers,
            spines,
            ipv6: false,
        }
    }

    /// Sets of rail switches.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.hosts.div_ceil(self.hosts_a_group)
    }

    /// The topology.
    ///
    /// # Errors
    /// A number is 0 that may not be, or there are more links than addresses (2^22).
    pub fn build(self) -> Result<Topology, RailsError> {
        let needed = [
            ("hosts", self.hosts),
            ("NICs", self.nics),
            ("hosts a group", self.hosts_a_group),
            ("spines", self.spines),
        ];
        if let Some((what, _)) = needed.into_iter().find(|(_, number)| *number == 0) {
            return Err(RailsError::None(what));
        }
        let links = u64::from(self.hosts) * u64::from(self.nics)
            + u64::from(self.groups())
                * u64::from(self.nics)
                * u64::from(self.uppers.max(self.spines))
            + u64::from(self.nics) * u64::from(self.uppers) * u64::from(self.spines);
        if links > MOST_LINKS {
            return Err(RailsError::TooLarge(links));
        }
        Ok(Topology::new(self))
    }
}

/// Two addresses a link fit into 10.0.0.0/9.
const MOST_LINKS: u64 = 1 << 22;

/// Why there is no such fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RailsError {
    /// A fabric needs at least one of these.
    None(&'static str),
    /// So many links have no addresses.
    TooLarge(u64),
}

impl fmt::Display for RailsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None(what) => write!(f, "a fabric without {what}"),
            Self::TooLarge(links) => write!(f, "{links} links, and addresses for {MOST_LINKS}"),
        }
    }
}

impl core::error::Error for RailsError {}

/// Name of a rail switch: `r0`, or `g1r0` where there are several groups.
pub(crate) fn rail_switch(groups: u32, group: u32, rail: u32) -> String {
    match groups {
        1 => alloc::format!("r{rail}"),
        _ => alloc::format!("g{group}r{rail}"),
    }
}
