//! Finds the RDMA device and port of a NIC.
//!
//! A device lists the GIDs of its ports, each with its interface. So the names of devices do not matter, and the second
//! port of a NIC or a VLAN is found like any other.

use super::super::Error;
use crate::types::Nic;
use rdma_mummy_sys as ib;
use std::ffi::CStr;
use std::io;
use std::net::IpAddr;
use std::ptr::NonNull;

/// The type of RoCEv2 entries in a GID table (`IBV_GID_TYPE_ROCE_V2`).
const ROCE_V2: u32 = 2;
/// The maximum number of GIDs that are read per device: two ports have 256 each.
const GIDS: usize = 512;

pub(super) type Gid = [u8; 16];

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
        let gid = gid(nic.address);
        let found = devices.iter().find_map(|(context, entries)| {
            let mut entries = entries.iter();
            let entry = entries.find(|entry| is_of(entry, &gid, *interface))?;
            Some(Port {
                context: *context,
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
    for (context, _) in devices {
        if ports.iter().all(|port| port.context != context) {
            // SAFETY: it is open, and nothing uses it. The result of closing does not matter.
            unsafe { ib::ibv_close_device(context.as_ptr()) };
        }
    }
    Ok(ports)
}

fn gid(address: IpAddr) -> Gid {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn is_of(entry: &ib::ibv_gid_entry, gid: &Gid, interface: u32) -> bool {
    // SAFETY: both variants of the union are 16 bytes, and every value is valid.
    let raw = unsafe { entry.gid.raw };
    entry.gid_type == ROCE_V2 && entry.ndev_ifindex == interface && raw == *gid
}

type Device = (NonNull<ib::ibv_context>, Vec<ib::ibv_gid_entry>);

/// Returns every device that opens, and its GIDs; appends the errors of the others to `refused`.
fn devices(refused: &mut String) -> Result<Vec<Device>, Error> {
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
            let opened = NonNull::new(ib::ibv_open_device(device));
            let entries = opened
                .ok_or_else(io::Error::last_os_error)
                .and_then(|context| match gids(context) {
                    Ok(entries) => Ok((context, entries)),
                    Err(error) => {
                        ib::ibv_close_device(context.as_ptr());
                        Err(error)
                    }
                });
            match entries {
                Ok(device) => devices.push(device),
                Err(error) => {
                    let name = CStr::from_ptr(ib::ibv_get_device_name(device));
                    *refused += &format!("; {}: {error}", name.to_string_lossy());
                }
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
    let what = match error.raw_os_error() {
        // The error of `rdma-mummy-sys` if the library does not load.
        Some(libc::EOPNOTSUPP) => "RDMA devices: libibverbs.so.1 (of rdma-core) does not load",
        Some(libc::ENOSYS) => "RDMA devices: the kernel has none (`modprobe ib_uverbs`)",
        _ => "RDMA devices",
    };
    Error::at(what)(error)
}
