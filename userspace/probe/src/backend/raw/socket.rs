//! A packet socket that filters in the kernel and timestamps departures and arrivals.
//!
//! `SO_TIMESTAMPING`: the driver stamps a frame when it passes it to the NIC, or the NIC when the frame leaves. A copy
//! returns on the error queue, which matches a departure (2) without counting. The stack stamps an arriving frame, or
//! the NIC does (3).

use super::super::Error;
use super::stamping::{Stamping, Stamps};
use crate::types::Nanos;
use rocescope_host::packet::{self, attach_filter, set_option};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The maximum length of a router's answer that quotes a probe.
const FRAME_MAX: usize = 576;
/// The maximum number of frames read at a time, so that one NIC cannot delay the others.
const BURST: usize = 64;

#[repr(C, align(8))]
struct Control([u8; 256]);

/// A received frame.
#[derive(Debug)]
pub(super) struct Received<'a> {
    pub(super) frame: &'a [u8],
    pub(super) stamps: Stamps,
}

#[derive(Debug)]
pub(super) struct Socket {
    socket: packet::Socket,
}

impl Socket {
    /// Opens a socket that is not yet bound to an interface.
    pub(super) fn open(udp_dst_port: u16, stamping: Stamping) -> Result<Self, Error> {
        let socket = packet::Socket::open().map_err(Error::at("a packet socket"))?;
        attach_filter(&socket, &filter(udp_dst_port)).map_err(Error::at("a filter"))?;
        socket.ignore_outgoing().map_err(Error::at("PACKET_IGNORE_OUTGOING"))?;
        set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &stamping.flags())
            .map_err(Error::at("SO_TIMESTAMPING"))?;
        Ok(Self { socket })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Passes the departed frames and their times to `take`; returns whether there were any.
    pub(super) fn departures(&mut self, mut take: impl FnMut(&[u8], Stamps)) -> bool {
        let mut buffer = [0; FRAME_MAX];
        for frame in 0..BURST {
            let Some((bytes, stamps)) = self.receive(&mut buffer, libc::MSG_ERRQUEUE) else {
                return frame > 0;
            };
            take(buffer.get(..bytes).unwrap_or_default(), stamps);
        }
        true
    }

    /// Passes the received frames to `take`. Also clears an error of the socket, such as an interface that went down;
    /// sending reports that.
    pub(super) fn arrivals(&mut self, mut take: impl FnMut(&Received<'_>)) {
        let mut buffer = [0; FRAME_MAX];
        for _ in 0..BURST {
            let Some((bytes, stamps)) = self.receive(&mut buffer, 0) else {
                return;
            };
            let frame = buffer.get(..bytes).unwrap_or_default();
            take(&Received { frame, stamps });
        }
    }

    fn receive(&self, buffer: &mut [u8], flags: libc::c_int) -> Option<(usize, Stamps)> {
        let mut control = Control([0; 256]);
        let mut part = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        // SAFETY: everything that the message points to outlives the call and has the stated size.
        let got = unsafe { libc::recvmsg(self.fd().as_raw_fd(), &raw mut message, flags | libc::MSG_DONTWAIT) };
        let bytes = usize::try_from(got).ok()?;
        Some((bytes, stamps(&message)))
    }

    /// The number of frames dropped because the buffer was full, as far as the kernel reports it.
    pub(super) fn dropped(&mut self) -> u64 {
        // An error leaves the number as it was.
        let _ = self.socket.new_drops();
        self.socket.dropped()
    }
}

/// The stamps of a message.
fn stamps(message: &libc::msghdr) -> Stamps {
    // SAFETY: the message was filled by `recvmsg`, and its control buffer still lives.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: a header that these macros return is inside the control buffer.
    while let Some(header) = unsafe { next.as_ref() } {
        if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) {
            // SAFETY: with this level and type the data are three `timespec`: software, deprecated, hardware; they need
            // not be aligned.
            let [software, _, hardware] =
                unsafe { libc::CMSG_DATA(next).cast::<[libc::timespec; 3]>().read_unaligned() };
            return Stamps {
                software: nanos(software),
                hardware: nanos(hardware),
            };
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
    Stamps::default()
}

/// A missing stamp is 0.
fn nanos(time: libc::timespec) -> Option<Nanos> {
    let nanos = Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec);
    (nanos.0 != 0).then_some(nanos)
}

/// Accepts datagrams to the port, and the ICMP messages time exceeded and unreachable.
fn filter(udp_dst_port: u16) -> [libc::sock_filter; 22] {
    const LOAD_HALF: u32 = libc::BPF_LD | libc::BPF_H | libc::BPF_ABS;
    const LOAD_BYTE: u32 = libc::BPF_LD | libc::BPF_B | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const ANY: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    let port = u32::from(udp_dst_port);
    let op = |code: u32, k, (jt, jf)| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    // Jumps count instructions from the next one; 20 accepts the frame, 21 drops it.
    let to = |here: u8, there: u8| there - here - 1;
    [
        /*  0 */ op(LOAD_HALF, 12, (0, 0)),
        /*  1 */ op(EQUAL, 0x0800, (0, to(1, 12))),
        // IPv4: only the first fragment, which has the ports.
        /*  2 */
        op(LOAD_HALF, 20, (0, 0)),
        /*  3 */ op(ANY, 0x1fff, (to(3, 21), 0)),
        /*  4 */ op(libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH, 14, (0, 0)),
        /*  5 */ op(LOAD_BYTE, 23, (0, 0)),
        /*  6 */ op(EQUAL, 17, (0, to(6, 9))),
        /*  7 */ op(libc::BPF_LD | libc::BPF_H | libc::BPF_IND, 16, (0, 0)),
        /*  8 */ op(EQUAL, port, (to(8, 20), to(8, 21))),
        /*  9 */ op(EQUAL, 1, (0, to(9, 21))),
        /* 10 */ op(libc::BPF_LD | libc::BPF_B | libc::BPF_IND, 14, (0, 0)),
        /* 11 */ op(EQUAL, 11, (to(11, 20), to(11, 19))),
        // IPv6 without extension headers.
        /* 12 */
        op(EQUAL, 0x86dd, (0, to(12, 21))),
        /* 13 */ op(LOAD_BYTE, 20, (0, 0)),
        /* 14 */ op(EQUAL, 17, (0, to(14, 17))),
        /* 15 */ op(LOAD_HALF, 56, (0, 0)),
        /* 16 */ op(EQUAL, port, (to(16, 20), to(16, 21))),
        /* 17 */ op(EQUAL, 58, (0, to(17, 21))),
        /* 18 */ op(LOAD_BYTE, 54, (0, 0)),
        // Types 3 and 1: exceeded in ICMPv6 and unreachable in ICMP, and vice versa.
        /* 19 */
        op(ANY, 0xfc, (to(19, 21), 0)),
        /* 20 */ op(libc::BPF_RET | libc::BPF_K, u32::MAX, (0, 0)),
        /* 21 */ op(libc::BPF_RET | libc::BPF_K, 0, (0, 0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message as the kernel fills it: another header first, then the times.
    #[test]
    fn software_and_hardware_stamps_are_distinguished() {
        let mut control = Control([0; 256]);
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = control.0.as_mut_ptr().cast();
        let time = |tv_sec, tv_nsec| libc::timespec { tv_sec, tv_nsec };
        let times = [time(3, 4), time(0, 0), time(1, 2)];
        // SAFETY: the lengths below match the written values, and the buffer has room for both headers.
        unsafe {
            message.msg_controllen = (libc::CMSG_SPACE(4) + libc::CMSG_SPACE(48)) as usize;
            let first = libc::CMSG_FIRSTHDR(&raw const message);
            (*first).cmsg_len = libc::CMSG_LEN(4) as usize;
            (*first).cmsg_level = libc::SOL_PACKET;
            let second = libc::CMSG_NXTHDR(&raw const message, first);
            (*second).cmsg_len = libc::CMSG_LEN(48) as usize;
            (*second).cmsg_level = libc::SOL_SOCKET;
            (*second).cmsg_type = libc::SO_TIMESTAMPING;
            libc::CMSG_DATA(second)
                .cast::<[libc::timespec; 3]>()
                .write_unaligned(times);
        }
        let expected = Stamps {
            software: Some(Nanos(3_000_000_004)),
            hardware: Some(Nanos(1_000_000_002)),
        };
        assert_eq!(stamps(&message), expected);
        message.msg_controllen = 0;
        assert_eq!(stamps(&message), Stamps::default());
    }
}
