//! Finds the RDMA device and port of a NIC.
//!
//! A device lists the GIDs of its ports, each with its interface. So the names of devices do not matter, and the second
//! port of a NIC or a VLAN is found like any other.

use super::super::Error;
use crate::types::Nic;
use rocescope_ibverbs::{self as ib, GID_TYPE_ROCE_V2, OpenDevice};
use std::net::{IpAddr, Ipv6Addr};
use std::ptr::NonNull;

pub(crate) type Gid = [u8; 16];

/// A port of a device, and the GID of the NIC's address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub(super) context: NonNull<ib::ibv_context>,
    pub(super) number: u8,
    pub(super) gid: Gid,
    pub(super) gid_index: u8,
}

/// Returns the port of each NIC; each NIC comes with its interface index. Other devices are closed again.
pub(super) fn ports(nics: &[(Nic, u32)]) -> Result<Vec<Port>, Error> {
    let mut refused = String::new();
    let devices = devices(&mut refused)?;
    let ports = nics.iter().map(|(nic, interface)| {
        let gid = gid_of(nic.address);
        let found = devices.iter().find_map(|found| {
            let mut entries = found.gids.iter();
            let entry = entries.find(|entry| is_of(entry, &gid, *interface))?;
            Some(Port {
                context: found.context,
                number: u8::try_from(entry.port_num).ok()?,
                gid,
                gid_index: u8::try_from(entry.gid_index).ok()?,
            })
        });
        found.ok_or_else(|| Error::Nic {
            nic: nic.name.clone(),
            why: format!(
                "no RDMA device has a RoCEv2 GID of {} on it (`ibv_devinfo -v` lists them){refused}",
                nic.address
            ),
        })
    });
    let ports = ports.collect::<Result<Vec<Port>, Error>>()?;
    for found in devices {
        if ports.iter().any(|port| port.context == found.context) {
            found.keep();
        }
    }
    Ok(ports)
}

/// The GID of an address.
pub(crate) fn gid_of(address: IpAddr) -> Gid {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

pub(crate) fn is_of(entry: &ib::ibv_gid_entry, gid: &Gid, interface: u32) -> bool {
    entry.gid_type == GID_TYPE_ROCE_V2 && entry.ndev_ifindex == interface && raw(entry) == *gid
}

/// How well an entry serves where the address does not matter, best first: IPv4, then IPv6, then link-local. `None` if
/// it is not of RoCEv2.
pub(crate) fn rank(entry: &ib::ibv_gid_entry) -> Option<u8> {
    let address = Ipv6Addr::from(raw(entry));
    (entry.gid_type == GID_TYPE_ROCE_V2).then(|| match address.to_ipv4_mapped() {
        Some(_) => 0,
        None => 1 + u8::from(address.is_unicast_link_local()),
    })
}

const fn raw(entry: &ib::ibv_gid_entry) -> Gid {
    // SAFETY: both variants of the union are 16 bytes, and every value is valid.
    unsafe { entry.gid.raw }
}

/// Opens all RDMA devices; appends the errors of those that do not open to `refused`.
pub(crate) fn devices(refused: &mut String) -> Result<Vec<OpenDevice>, Error> {
    Ok(ib::devices(refused)?)
}
