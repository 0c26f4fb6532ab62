//! The NICs of this host.

use super::super::Error;
use crate::types::Nic;
use rocescope_host::interface::Interface;
use rocescope_host::listing::{self, Listed};
use rocescope_host::port::rdma_devices;
use std::net::IpAddr;
use std::path::Path;

/// A NIC with an address.
#[derive(Clone, Debug)]
pub struct Link {
    interface: Interface,
    mac: [u8; 6],
    address: IpAddr,
    is_rdma: bool,
}

/// Lists all interfaces of this host.
pub(super) fn interfaces() -> Result<Vec<Listed>, Error> {
    listing::list().map_err(Error::at("the interfaces"))
}

/// Every Ethernet interface that is up and has an address.
pub(super) fn up() -> Result<Vec<Link>, Error> {
    let up = interfaces()?.into_iter().filter(Listed::is_up);
    Ok(up.filter_map(|interface| Link::new(&interface, None).ok()).collect())
}

/// Returns the interface with this name.
///
/// # Errors
/// There is none, or it cannot be probed.
pub fn find(name: &str) -> Result<Link, Error> {
    let found = interfaces()?.into_iter().find(|one| one.name == name);
    let why = match found.map(|interface| Link::new(&interface, None)) {
        Some(Ok(link)) => return Ok(link),
        Some(Err(why)) => why,
        None => "no such interface (`ip link` lists them)",
    };
    Err(Error::Nic {
        nic: name.into(),
        why: why.into(),
    })
}

impl Link {
    /// `before` is its previous address, which it keeps while the interface has it.
    fn new(interface: &Listed, before: Option<IpAddr>) -> Result<Self, &'static str> {
        let mac = interface.mac.filter(|_| !interface.is_loopback());
        let mac = mac.ok_or("not an Ethernet interface")?;
        let is_routed = |address: &IpAddr| match address {
            IpAddr::V4(v4) => !v4.is_link_local(),
            IpAddr::V6(v6) => !v6.is_unicast_link_local(),
        };
        let mut addresses = interface.addresses.clone();
        addresses.retain(is_routed);
        // IPv4 if it has any, else IPv6.
        addresses.sort_by_key(|address| (Some(*address) != before, is_v6(*address)));
        let address = *addresses.first().ok_or("no address (`ip address add`)")?;
        Ok(Self {
            mac,
            address,
            is_rdma: is_rdma(Path::new("/sys/class"), &interface.name),
            interface: interface.clone().into(),
        })
    }

    /// Returns the interface of the same name if it has an address of the same family.
    pub(super) fn among(&self, interfaces: &[Listed]) -> Option<Self> {
        let mut named = interfaces.iter().filter(|one| one.name == self.name());
        let now = Self::new(named.next()?, Some(self.address)).ok()?;
        (is_v6(now.address) == is_v6(self.address)).then_some(now)
    }

    /// Whether it is another interface, or its frames have other addresses.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let key = |link: &Self| (link.index(), link.mac, link.address);
        key(self) != key(other)
    }

    /// The NIC as the agent sees it.
    #[must_use]
    pub fn nic(&self) -> Nic {
        Nic {
            name: self.interface.name.clone(),
            address: self.address,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.interface.name
    }

    /// The address that it is probed at.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Its MAC address.
    #[must_use]
    pub const fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// Its interface.
    pub(super) const fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The number of the interface.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.interface.index
    }

    /// Whether an RDMA device is behind it, which consumes RoCEv2 itself: UDP 4791 never reaches the kernel.
    #[must_use]
    pub const fn is_rdma(&self) -> bool {
        self.is_rdma
    }
}

/// Whether an RDMA device has a port on an interface: a NIC or a virtual function has the device below it; a VLAN or a bond only
/// gives its addresses to the device's GIDs. `class` is `/sys/class`.
fn is_rdma(class: &Path, interface: &str) -> bool {
    let own = class.join("net").join(interface).join("device/infiniband");
    own.exists() || rdma_devices(&class.join("infiniband")).contains_key(interface)
}

/// Whether it is an IPv6 address.
fn is_v6(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(_))
}

#[cfg(test)]
mod tests {
    use super::is_rdma;
    use std::fs;

    #[test]
    fn an_rdma_device_is_found_behind_a_nic_a_virtual_function_a_vlan_and_a_bond() {
        let class = tempfile::tempdir().unwrap();
        for own in ["rail0", "rail0v2"] {
            fs::create_dir_all(class.path().join("net").join(own).join("device/infiniband/mlx5_0")).unwrap();
        }
        let gids = class.path().join("infiniband/mlx5_0/ports/1/gid_attrs/ndevs");
        fs::create_dir_all(&gids).unwrap();
        for (number, interface) in ["rail0\n", "rail0.7\n", "bond0\n"].iter().enumerate() {
            fs::write(gids.join(number.to_string()), interface).unwrap();
        }
        for interface in ["rail0", "rail0v2", "rail0.7", "bond0"] {
            assert!(is_rdma(class.path(), interface), "{interface}");
        }
        assert!(!is_rdma(class.path(), "rail0.8") && !is_rdma(class.path(), "eth0"));
    }
}
