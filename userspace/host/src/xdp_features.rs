//! What drivers support of XDP, as the kernel reports it (generic netlink, family `netdev`, Linux 6.3 and later).
//!
//! Two requests: the number of the family, then its devices.

use crate::netlink::{Socket, attribute, find};
use std::collections::BTreeMap;
use std::io;

/// `NETDEV_XDP_ACT_BASIC`: the driver runs programs that abort, drop, pass and send back.
pub(crate) const BASIC: u64 = 1;

/// `GENL_HDRLEN`.
const GENERIC_HEADER: usize = 4;
const CONTROL_FAMILY: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const DEVICE_GET: u8 = 1;
const DEVICE_INDEX: u16 = 1;
const DEVICE_FEATURES: u16 = 3;

/// The features of every device, by index.
///
/// # Errors
/// The kernel does not report them.
pub(crate) fn all() -> io::Result<BTreeMap<u32, u64>> {
    let mut socket = Socket::open(libc::NETLINK_GENERIC)?;
    let mut family = None;
    let name = attribute(FAMILY_NAME, b"netdev\0");
    exchange(&mut socket, CONTROL_FAMILY, false, GET_FAMILY, &name, |attributes| {
        family = find(attributes, FAMILY_ID)
            .and_then(|id| id.first_chunk().copied())
            .map(u16::from_ne_bytes);
    })?;
    let family = family.ok_or(io::ErrorKind::Unsupported)?;
    let mut found = BTreeMap::new();
    exchange(&mut socket, family, true, DEVICE_GET, &[], |attributes| {
        let index = find(attributes, DEVICE_INDEX).and_then(|index| index.first_chunk().copied());
        let features = find(attributes, DEVICE_FEATURES).and_then(|bits| bits.first_chunk().copied());
        if let (Some(index), Some(features)) = (index, features) {
            found.insert(u32::from_ne_bytes(index), u64::from_ne_bytes(features));
        }
    })?;
    Ok(found)
}

/// Sends a request and passes the attributes of each message of the answer to `take`.
fn exchange(
    socket: &mut Socket,
    family: u16,
    is_dump: bool,
    command: u8,
    attributes: &[u8],
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut body = vec![command, 1, 0, 0];
    body.extend(attributes);
    socket.exchange(family, is_dump, &body, |answer| {
        take(answer.get(GENERIC_HEADER..).unwrap_or_default());
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels before 6.3 lack the family, so only an answer is checked.
    #[test]
    fn the_loopback_runs_no_programs_in_its_driver() {
        if let Ok(found) = all() {
            assert_eq!(found.get(&1).map(|features| features & BASIC), Some(0));
        }
    }
}
