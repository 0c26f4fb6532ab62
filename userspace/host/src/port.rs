//! Every interface with what matters for a capture: state, speed, driver, XDP support, RDMA device.

use crate::interface::Interface;
use crate::listing::{self, Listed};
use crate::xdp_features;
use crate::xdp_program::{self, XdpProgram};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// Whether the driver runs XDP programs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeXdp {
    /// It does.
    Supported,
    /// It does not: programs run after it (generic XDP).
    Unsupported,
    /// The kernel does not report it; those from 6.3 on do.
    Unknown,
    /// Its frames do not begin with an Ethernet header.
    NotEthernet,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether an administrator has enabled it.
    pub is_up: bool,
    /// Whether it is enabled and has a carrier.
    pub is_running: bool,
    /// Link speed in megabits per second, if known.
    pub speed_mbps: Option<u64>,
    /// MTU in bytes, if known.
    pub mtu_bytes: Option<u32>,
    /// Name of the driver, if it reports one.
    pub driver: Option<String>,
    /// Whether native XDP is possible.
    pub native_xdp: NativeXdp,
    /// The XDP program on it.
    pub xdp_program: Option<XdpProgram>,
    /// RDMA devices on it.
    pub rdma_devices: Vec<String>,
    /// MAC address, if it has six bytes.
    pub mac: Option<[u8; 6]>,
    /// IP addresses.
    pub addresses: Vec<IpAddr>,
}

impl Port {
    /// Every interface, in the order of their indexes.
    ///
    /// # Errors
    /// The kernel refuses to list them.
    pub fn all() -> io::Result<Vec<Self>> {
        // Kernels before 6.3 do not report the features.
        let features = xdp_features::all().ok();
        let mut rdma = rdma_devices(Path::new("/sys/class/infiniband"));
        let mut ports: Vec<Self> = listing::list()?
            .into_iter()
            .map(|listed| Self::of(listed, features.as_ref(), &mut rdma))
            .collect();
        ports.sort_by_key(|port| port.index);
        Ok(ports)
    }

    fn of(listed: Listed, features: Option<&BTreeMap<u32, u64>>, rdma: &mut BTreeMap<String, Vec<String>>) -> Self {
        let native = |features: &u64| match features & xdp_features::BASIC {
            0 => NativeXdp::Unsupported,
            _ => NativeXdp::Supported,
        };
        let reported = features.and_then(|features| features.get(&listed.index));
        let native_xdp = match listed.is_ethernet() {
            true => reported.map_or(NativeXdp::Unknown, native),
            false => NativeXdp::NotEthernet,
        };
        let (is_up, is_running) = (listed.is_up(), listed.is_running());
        let (mac, addresses) = (listed.mac, listed.addresses.clone());
        let interface = Interface::from(listed);
        Self {
            is_up,
            is_running,
            speed_mbps: interface.speed_mbps(),
            mtu_bytes: interface.mtu().ok(),
            driver: interface.driver().ok().filter(|name| !name.is_empty()),
            native_xdp,
            xdp_program: xdp_program::on(interface.index),
            rdma_devices: rdma.remove(&interface.name).unwrap_or_default(),
            mac,
            addresses,
            index: interface.index,
            name: interface.name,
        }
    }

    /// `up`, `down` or `no carrier`.
    #[must_use]
    pub const fn state(&self) -> &'static str {
        match (self.is_up, self.is_running) {
            (_, true) => "up",
            (true, false) => "no carrier",
            (false, false) => "down",
        }
    }
}

/// RDMA devices by the interface of their ports, as their GIDs name them: a VLAN, a bond or a virtual function too. `class` is
/// `/sys/class/infiniband`.
#[must_use]
pub fn rdma_devices(class: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for device in names(class) {
        let ports = class.join(&device).join("ports");
        for port in names(&ports) {
            let interfaces = ports.join(port).join("gid_attrs/ndevs");
            for gid in names(&interfaces) {
                // An unused entry cannot be read.
                let Ok(interface) = fs::read_to_string(interfaces.join(gid)) else {
                    continue;
                };
                let devices = found.entry(interface.trim().to_owned()).or_default();
                if !devices.contains(&device) {
                    devices.push(device.clone());
                }
            }
        }
    }
    found
}

/// The names in a directory, sorted; none if it does not exist.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_up_and_has_its_address() {
        let all = Port::all().unwrap();
        let loopback = all.iter().find(|port| port.name == "lo").unwrap();
        assert_eq!((loopback.index, loopback.mac), (1, Some([0; 6])));
        assert_ne!(loopback.native_xdp, NativeXdp::NotEthernet);
    }

    #[test]
    fn rdma_devices_are_found_by_the_interface_of_their_ports() {
        let class = tempfile::tempdir().unwrap();
        for (device, gid, interface) in [
            ("mlx5_0", "0", "eth2\n"),
            ("mlx5_0", "1", "eth2\n"),
            ("mlx5_0", "2", "eth2.100\n"),
            ("rxe0", "0", "eth2\n"),
            ("mlx5_bond_0", "0", "bond0\n"),
            ("mlx5_9", "0", "ens1f0v3\n"),
        ] {
            let folder = class.path().join(device).join("ports/1/gid_attrs/ndevs");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(gid), interface).unwrap();
        }
        let found = rdma_devices(class.path());
        assert_eq!(found["eth2"], ["mlx5_0", "rxe0"]);
        assert_eq!(found["eth2.100"], ["mlx5_0"]);
        assert_eq!(found["bond0"], ["mlx5_bond_0"]);
        assert_eq!(found["ens1f0v3"], ["mlx5_9"]);
        assert!(rdma_devices(Path::new("/nowhere")).is_empty());
    }
}
