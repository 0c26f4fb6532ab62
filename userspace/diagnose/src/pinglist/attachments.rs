//! Which switch each NIC is connected to, and over how many ways packets leave it towards other switches.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use core::net::IpAddr;

/// What is known of the switches next to NICs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachments {
    switches: BTreeMap<IpAddr, String>,
    ways: BTreeMap<String, BTreeSet<String>>,
}

impl Attachments {
    /// A NIC is connected to this switch.
    pub fn connect(&mut self, nic: IpAddr, switch: &str) {
        self.switches.insert(nic, switch.into());
    }

    /// A way leads from a switch to another one: the port or the switch where it ends.
    pub fn lead(&mut self, switch: &str, to: &str) {
        self.ways.entry(switch.into()).or_default().insert(to.into());
    }

    /// Adds what others show; it counts where both differ.
    pub fn extend(&mut self, others: Self) {
        self.switches.extend(others.switches);
        for (switch, ways) in others.ways {
            self.ways.entry(switch).or_default().extend(ways);
        }
    }

    /// The switch of a NIC, if it is known.
    #[must_use]
    pub fn switch(&self, nic: IpAddr) -> Option<&str> {
        self.switches.get(&nic).map(String::as_str)
    }

    /// The number of ways from a switch to others that are known.
    #[must_use]
    pub fn ways(&self, switch: &str) -> usize {
        self.ways.get(switch).map_or(0, BTreeSet::len)
    }
}
