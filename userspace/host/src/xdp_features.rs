//! What drivers support of XDP, as the kernel reports it (generic netlink, family `netdev`, Linux 6.3 and later).
//!
//! Two requests: the number of the family, then its devices. Netlink libraries bring an async runtime with them.

use crate::request;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};

/// `NETDEV_XDP_ACT_BASIC`: the driver runs programs that abort, drop, pass and send back.
pub(crate) const BASIC: u64 = 1;

/// `NLMSG_HDRLEN` and `GENL_HDRLEN`.
const MESSAGE_HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
const CONTROL_FAMILY: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const DEVICE_GET: u8 = 1;
const DEVICE_INDEX: u16 = 1;
const DEVICE_FEATURES: u16 = 3;
const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// The kernel writes at most this much at once.
const BUFFER_BYTES: usize = 32 * 1024;

/// The features of every device, by index.
///
/// # Errors
/// The kernel does not report them.
pub(crate) fn all() -> io::Result<BTreeMap<u32, u64>> {
    let socket = request::socket_of(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_GENERIC)?;
    let mut socket = File::from(socket);
    let mut family = None;
    let name = attribute(FAMILY_NAME, b"netdev\0");
    exchange(&mut socket, CONTROL_FAMILY, REQUEST, GET_FAMILY, &name, |attributes| {
        family = find(attributes, FAMILY_ID)
            .and_then(|id| id.first_chunk().copied())
            .map(u16::from_ne_bytes);
    })?;
    let family = family.ok_or(io::ErrorKind::Unsupported)?;
    let mut found = BTreeMap::new();
    exchange(&mut socket, family, REQUEST | DUMP, DEVICE_GET, &[], |attributes| {
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
    socket: &mut File,
    family: u16,
    flags: u16,
    command: u8,
    attributes: &[u8],
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let length = (MESSAGE_HEADER + GENERIC_HEADER + attributes.len()) as u32;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(family.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Sequence and port: there is one request at a time, and the kernel knows the port.
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend(attributes);
    socket.write_all(&message)?;
    let mut answer = vec![0; BUFFER_BYTES];
    loop {
        let read = socket.read(&mut answer)?;
        let mut rest = answer.get(..read).unwrap_or_default();
        while let Some((kind, body, behind)) = message_of(rest) {
            match kind {
                DONE => return Ok(()),
                ERROR => {
                    let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                    return Err(io::Error::from_raw_os_error(-code));
                }
                _ => take(body.get(GENERIC_HEADER..).unwrap_or_default()),
            }
            rest = behind;
        }
        if flags & DUMP == 0 || read == 0 {
            return Ok(());
        }
    }
}

/// Splits the first message off: its type, its content, and the bytes after it.
fn message_of(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(MESSAGE_HEADER..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, body, behind))
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The value of an attribute.
fn find(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?);
        let value = bytes.get(4..length)?;
        // The two high bits are flags.
        if kind & 0x3fff == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_in_any_order_and_damage_ends_the_search() {
        let mut bytes = attribute(7, b"abc");
        bytes.extend(attribute(1 | 0x8000, &5_u32.to_ne_bytes()));
        assert_eq!(find(&bytes, 1), Some(&5_u32.to_ne_bytes()[..]));
        assert_eq!(find(&bytes, 7), Some(&b"abc"[..]));
        assert_eq!(find(&bytes, 9), None);
        assert_eq!(find(&[0, 0, 1, 0], 1), None, "a length below the header");
        assert_eq!(message_of(&[1, 0, 0, 0, 0, 0]), None);
    }

    /// Kernels before 6.3 lack the family, so only an answer is checked.
    #[test]
    fn the_loopback_runs_no_programs_in_its_driver() {
        if let Ok(found) = all() {
            assert_eq!(found.get(&1).map(|features| features & BASIC), Some(0));
        }
    }
}
