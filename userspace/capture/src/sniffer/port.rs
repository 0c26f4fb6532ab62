//! Ports of RDMA devices, by name.

use super::SnifferError;
use rocescope_ibverbs::{self as ib, OpenDevice};
use std::path::Path;

/// A port of an RDMA device.
#[derive(Debug)]
pub struct SnifferPort {
    pub(super) device: OpenDevice,
    pub(super) port: u8,
    /// The index of its network interface.
    pub interface: u32,
}

impl SnifferPort {
    /// Finds `mlx5_0`, or `mlx5_0/2`, its second port; `None` if no RDMA device has this name.
    ///
    /// # Errors
    /// The port has no network interface, so it does not carry RoCE.
    pub fn find(name: &str) -> Result<Option<Self>, SnifferError> {
        let (device, port) = name.split_once('/').unwrap_or((name, "1"));
        let Ok(port) = port.parse::<u8>() else {
            return Ok(None);
        };
        let mut refused = String::new();
        let devices = match ib::devices_named(|found| found == device, &mut refused) {
            Ok(devices) => devices,
            Err(error) if Path::new("/sys/class/infiniband").join(device).exists() => return Err(error.into()),
            // A host without RDMA has no device of any name.
            Err(_) => return Ok(None),
        };
        let Some(device) = devices.into_iter().next() else {
            return match refused.strip_prefix("; ") {
                Some(why) => Err(SnifferError::NoDevice(why.to_owned())),
                None => Ok(None),
            };
        };
        let mut gids = device.gids.iter();
        let gid = gids.find(|gid| gid.port_num == u32::from(port) && gid.ndev_ifindex != 0);
        match gid.map(|gid| gid.ndev_ifindex) {
            Some(interface) => Ok(Some(Self {
                device,
                port,
                interface,
            })),
            None => Err(SnifferError::NoDevice(format!(
                "port {port} of {} has no network interface: it does not carry RoCE",
                device.name
            ))),
        }
    }
}
