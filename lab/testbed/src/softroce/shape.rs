//! How many guests there are, and what their NICs are.

/// A fabric of guests. Each guest has two rails; NIC `rail` has the address `10.77.RAIL.GUEST` and the device `rxeRAIL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two guests; a NIC of each rail.
    #[default]
    Two,
    /// Three guests; rail 0 is a VLAN of a NIC, rail 1 one of a bond of two NICs.
    Three,
}

impl Shape {
    /// The number of guests.
    pub(super) fn guests(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// The network interfaces with the addresses of the rails.
    pub(super) fn nics(self) -> [&'static str; 2] {
        match self {
            Self::Two => ["eth0", "eth1"],
            Self::Three => ["eth0.100", "bond1.100"],
        }
    }

    /// The number of emulated NICs of a guest.
    pub(super) fn emulated(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// What the kernel's command line has for the first process of a guest.
    pub(super) fn words(self) -> String {
        let [first, second] = self.nics();
        format!("guests={} nics={first},{second}", self.guests())
    }
}
