//! Finds the RDMA device and port of a NIC.
//!
//! A device lists the GIDs of its ports, each with its interface. So the names of devices do not matter, and the second
//! port of a NIC or a VLAN is found like any other.

use super::super::Error;
use crate::ibverbs as ib;
use crate::types::Nic;
use std::ffi::CStr;
use std::io;
use std::mem::ManuallyDrop;
use std::net::{IpAddr, Ipv6Addr};
use std::ptr::NonNull;

/// The type of RoCEv2 entries in a GID table (`IBV_GID_TYPE_ROCE_V2`).
const ROCE_V2: u32 = 2;
/// The maximum number of GIDs that are read per device: two ports have 256 each.
const GIDS: usize = 512;

pub(crate) type Gid = [u8; 16];

/// An open device; it closes when it is dropped.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) context: NonNull<ib::ibv_context>,
    pub(crate) entries: Vec<ib::ibv_gid_entry>,
}

impl Found {
    /// Keeps it open.
    pub(crate) fn keep(self) -> NonNull<ib::ibv_context> {
        let mut found = ManuallyDrop::new(self);
        // What else it owns.
        drop((std::mem::take(&mut found.name), std::mem::take(&mut found.entries)));
        found.context
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it. The result of closing does not matter.
        unsafe { ib::ibv_close_device(self.context.as_ptr()) };
    }
}

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
            let mut entries = found.entries.iter();
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
    entry.gid_type == ROCE_V2 && entry.ndev_ifindex == interface && raw(entry) == *gid
}

/// How well an entry serves where the address does not matter, best first: IPv4, then IPv6, then link-local. `None` if
/// it is not of RoCEv2.
pub(crate) fn rank(entry: &ib::ibv_gid_entry) -> Option<u8> {
    let address = Ipv6Addr::from(raw(entry));
    (entry.gid_type == ROCE_V2).then(|| match address.to_ipv4_mapped() {
        Some(_) => 0,
        None => 1 + u8::from(address.is_unicast_link_local()),
    })
}

const fn raw(entry: &ib::ibv_gid_entry) -> Gid {
    // SAFETY: both variants of the union are 16 bytes, and every value is valid.
    unsafe { entry.gid.raw }
}

/// Returns every device that opens, and its GIDs; appends the errors of the others to `refused`.
pub(crate) fn devices(refused: &mut String) -> Result<Vec<Found>, Error> {
    let mut count = 0;
    let mut devices = Vec::new();
    // SAFETY: the list holds `count` devices, valid until the list is freed; an open device stays valid.
    unsafe {
        let list = ib::ibv_get_device_list(&raw mut count);
        if list.is_null() {
            return Err(none(io::Error::last_os_error()));
        }
        for at in 0..usize::try_from(count).unwrap_or(0) {
            let device = *list.add(at);
            let name = CStr::from_ptr(ib::ibv_get_device_name(device)).to_string_lossy();
            let opened = NonNull::new(ib::ibv_open_device(device));
            let found = opened.ok_or_else(io::Error::last_os_error).and_then(|context| {
                let mut found = Found {
                    name: name.to_string(),
                    context,
                    entries: Vec::new(),
                };
                found.entries = gids(context)?;
                Ok(found)
            });
            match found {
                Ok(found) => devices.push(found),
                Err(error) => *refused += &format!("; {name}: {error}"),
            }
        }
        ib::ibv_free_device_list(list);
    }
    Ok(devices)
}

fn gids(context: NonNull<ib::ibv_context>) -> io::Result<Vec<ib::ibv_gid_entry>> {
    // SAFETY: a structure of numbers, for which all zeros is valid.
    let mut entries = vec![unsafe { std::mem::zeroed::<ib::ibv_gid_entry>() }; GIDS];
    // SAFETY: the device is open, and the call fills no more than the given number of entries.
    let found = unsafe { ib::ibv_query_gid_table(context.as_ptr(), entries.as_mut_ptr(), GIDS, 0) };
    let Ok(found) = usize::try_from(found) else {
        return Err(io::Error::from_raw_os_error(found.unsigned_abs() as i32));
    };
    entries.truncate(found);
    Ok(entries)
}

/// Explains why there is no list of devices.
fn none(error: io::Error) -> Error {
    if let Some(why) = ib::missing() {
        return Error::at("RDMA devices: libibverbs.so.1 (of rdma-core) does not load")(io::Error::other(why));
    }
    let what = match error.raw_os_error() {
        Some(libc::ENOSYS) => "RDMA devices: the kernel has none (`modprobe ib_uverbs`)",
        _ => "RDMA devices",
    };
    Error::at(what)(error)
}
