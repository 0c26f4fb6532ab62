//! Netlink messages and their attributes (`man 7 netlink`). Netlink libraries bring an async runtime with them, or take a
//! minute to compile.

use crate::request;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// `NLMSG_HDRLEN`.
const MESSAGE_HEADER: usize = 16;
const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// The kernel writes at most this much at once.
const BUFFER_BYTES: usize = 32 * 1024;

/// The maximum number of notifications read at a time; the socket stays ready while there are more.
const BURST: usize = 64;

/// A netlink socket with one request at a time.
#[derive(Debug)]
pub struct Socket {
    file: File,
    answer: Vec<u8>,
}

impl Socket {
    /// Opens a socket of a protocol, such as `NETLINK_GENERIC`.
    ///
    /// # Errors
    /// The kernel does not have the protocol.
    pub fn open(protocol: libc::c_int) -> io::Result<Self> {
        let socket = request::socket_of(libc::AF_NETLINK, libc::SOCK_RAW, protocol)?;
        Ok(Self {
            file: File::from(socket),
            answer: vec![0; BUFFER_BYTES],
        })
    }

    /// A socket in whose other end a test is the kernel.
    #[cfg(test)]
    pub(crate) fn made(end: std::os::unix::net::UnixDatagram) -> Self {
        Self {
            file: File::from(std::os::fd::OwnedFd::from(end)),
            answer: vec![0; BUFFER_BYTES],
        }
    }

    /// Sends a request and passes the body of each message of the answer to `take`.
    ///
    /// # Errors
    /// That of the kernel.
    pub(crate) fn exchange(
        &mut self,
        kind: u16,
        is_dump: bool,
        body: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let flags = if is_dump { REQUEST | DUMP } else { REQUEST };
        self.file.write_all(&message(kind, flags, body))?;
        loop {
            let read = self.file.read(&mut self.answer)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let is_done = each(self.answer.get(..read).unwrap_or_default(), &mut take)?;
            if is_done || !is_dump {
                return Ok(());
            }
        }
    }

    /// Asks for one object; returns the body of the answer, or `None` if the kernel answers with an error: it has no such
    /// object.
    ///
    /// # Errors
    /// The request cannot be sent, or its answer not be received.
    pub fn ask(&mut self, kind: u16, body: &[u8]) -> io::Result<Option<&[u8]>> {
        self.file.write_all(&message(kind, REQUEST, body))?;
        let read = self.file.read(&mut self.answer)?;
        let answer = split(self.answer.get(..read).unwrap_or_default());
        Ok(answer
            .filter(|(kind, ..)| ![ERROR, DONE].contains(kind))
            .map(|(_, body, _)| body))
    }
}

/// A socket that receives notifications of the kernel.
#[derive(Debug)]
pub struct Notifications(File);

impl Notifications {
    /// Subscribes to these groups of a protocol, of which only the first 32 can be named.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn open(protocol: libc::c_int, groups: &[libc::c_uint]) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let socket = request::socket_of(libc::AF_NETLINK, kind, protocol)?;
        // SAFETY: a structure of numbers, for which all zero is a value.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        let bit = |group: &libc::c_uint| 1_u32.checked_shl(group.wrapping_sub(1)).unwrap_or(0);
        address.nl_groups = groups.iter().map(bit).fold(0, |all, bit| all | bit);
        let length = size_of_val(&address) as libc::socklen_t;
        let address = std::ptr::from_ref(&address).cast();
        // SAFETY: the kernel reads no more than the length passed.
        match unsafe { libc::bind(socket.as_raw_fd(), address, length) } {
            0 => Ok(Self(File::from(socket))),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Reads the notifications; returns whether there were any. Their content is not parsed: the caller looks up the
    /// state.
    pub fn drain(&self) -> bool {
        let mut some = false;
        for _ in 0..BURST {
            match (&self.0).read(&mut [0; 1]) {
                Ok(_) => some = true,
                // Notifications were dropped because the buffer was full.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => some = true,
                Err(_) => break,
            }
        }
        some
    }
}

impl AsFd for Notifications {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A message. Sequence and port are 0: there is one request at a time, and the kernel knows the port.
pub(crate) fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = (MESSAGE_HEADER + body.len()) as u32;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Passes the body of each message to `take`; whether the last one ends the answer.
///
/// # Errors
/// The error in a message.
pub(crate) fn each(mut bytes: &[u8], take: &mut impl FnMut(&[u8])) -> io::Result<bool> {
    while let Some((kind, body, behind)) = split(bytes) {
        match kind {
            DONE | ERROR => {
                let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                // The end of a list has a code as well: below 0, if the kernel stopped before it was whole.
                if kind == DONE && code >= 0 {
                    return Ok(true);
                }
                return Err(io::Error::from_raw_os_error(code.saturating_neg()));
            }
            _ => take(body),
        }
        bytes = behind;
    }
    Ok(false)
}

/// Splits the first message off: its type, its content, and the bytes after it.
fn split(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(MESSAGE_HEADER..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, body, behind))
}

/// An attribute.
#[must_use]
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The attributes in these bytes: type and value. Damage ends them.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes(*bytes.get(2..)?.first_chunk()?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        // The two high bits are flags.
        Some((kind & 0x3fff, value))
    })
}

/// The value of an attribute.
#[must_use]
pub fn find(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes)
        .find(|(kind, _)| *kind == wanted)
        .map(|(_, value)| value)
}

/// A number of 32 bits.
#[must_use]
pub fn number(value: &[u8]) -> Option<u32> {
    value.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

/// A number of 64 bits.
pub(crate) fn long(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// A text that ends with 0.
pub(crate) fn text(value: &[u8]) -> Option<String> {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    Some(std::str::from_utf8(value.get(..end)?).ok()?.to_owned())
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
        assert_eq!(split(&[1, 0, 0, 0, 0, 0]), None);
    }

    /// The loopback interface is known and an interface without a number is not; both leave the socket usable.
    #[test]
    fn an_object_is_found_or_unknown() {
        let mut socket = Socket::open(libc::NETLINK_ROUTE).unwrap();
        // `struct ifinfomsg`: the index of the interface is its second word.
        let link = |index: u32| [&[0; 4][..], &index.to_ne_bytes(), &[0; 8]].concat();
        for _ in 0..2 {
            let lo = socket.ask(libc::RTM_GETLINK, &link(1)).unwrap().unwrap();
            let name = lo.get(16..).and_then(|attributes| find(attributes, libc::IFLA_IFNAME));
            assert_eq!(name.and_then(text).as_deref(), Some("lo"));
            assert_eq!(socket.ask(libc::RTM_GETLINK, &link(0x7fff_ffff)).unwrap(), None);
        }
    }

    #[test]
    fn without_a_change_there_is_no_notification() {
        let groups = [libc::RTNLGRP_IPV6_RULE];
        let notifications = Notifications::open(libc::NETLINK_ROUTE, &groups).unwrap();
        assert!(!notifications.drain());
    }

    #[test]
    fn an_error_ends_an_answer_and_done_ends_a_dump() {
        let mut seen = Vec::new();
        let mut take = |body: &[u8]| seen.push(body.to_vec());
        let mut answer = message(16, 0, b"one.");
        assert!(!each(&answer, &mut take).unwrap());
        answer.extend(message(DONE, 0, &[0; 4]));
        assert!(each(&answer, &mut take).unwrap());
        let refused = message(ERROR, 0, &(-libc::EPERM).to_ne_bytes());
        let error = each(&refused, &mut take).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        // A message that is cut off.
        assert!(!each(&answer[..18], &mut take).unwrap());
        assert_eq!(seen, [b"one.", b"one."]);
    }
}
