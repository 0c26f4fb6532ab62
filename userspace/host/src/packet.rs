//! Packet sockets: whole frames of one interface.

use crate::request;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// `PACKET_IGNORE_OUTGOING`
const IGNORE_OUTGOING: libc::c_int = 23;
/// A classic BPF filter that drops every frame.
pub const DROP_ALL: [libc::sock_filter; 1] = [libc::sock_filter {
    code: (libc::BPF_RET | libc::BPF_K) as u16,
    jt: 0,
    jf: 0,
    k: 0,
}];

/// A classic BPF filter that keeps the frames that this host sends.
pub const LEAVING: [libc::sock_filter; 4] = [
    libc::sock_filter {
        code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
        jt: 0,
        jf: 0,
        k: (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE).cast_unsigned(),
    },
    libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: libc::PACKET_OUTGOING as u32,
    },
    libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: u32::MAX,
    },
    DROP_ALL[0],
];

/// What a socket receives once it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// Nothing: it sends.
    Nothing,
    /// Every frame.
    Everything,
}

/// A packet socket. Opening one needs `CAP_NET_RAW`.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    dropped: u64,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Socket {
    /// Opens a socket, which receives nothing until it is bound.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing.
    pub fn open() -> io::Result<Self> {
        let fd = request::socket(libc::AF_PACKET, libc::SOCK_RAW)?;
        Ok(Self { fd, dropped: 0 })
    }

    /// Sends and receives on the interface with this index from now on.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn bind(&self, interface: u32, receive: Receive) -> io::Result<()> {
        // SAFETY: a structure of numbers, for which all zero is a value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_ifindex = interface.cast_signed();
        if receive == Receive::Everything {
            address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        }
        // SAFETY: the kernel reads no more than the size passed.
        let bound = unsafe {
            libc::bind(
                self.fd.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        };
        answer(bound)
    }

    /// Excludes frames that this host sends.
    ///
    /// # Errors
    /// The kernel is older than 4.20.
    pub fn ignore_outgoing(&self) -> io::Result<()> {
        self.set(IGNORE_OUTGOING, &1i32)
    }

    /// Sets an option of packet sockets.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set<T>(&self, name: libc::c_int, value: &T) -> io::Result<()> {
        set_option(&self.fd, libc::SOL_PACKET, name, value)
    }

    /// Sends a frame, Ethernet header and all.
    ///
    /// # Errors
    /// The kernel or the interface refuses: it is down, or its queue is full.
    pub fn send(&self, frame: &[u8], flags: libc::c_int) -> io::Result<()> {
        // SAFETY: the kernel reads no more than the length passed.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), flags) };
        if sent >= 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Frames dropped because the socket was full, from its opening to the last [`new_drops`](Self::new_drops).
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Frames dropped because the socket was full, since the last call.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn new_drops(&mut self) -> io::Result<u64> {
        // SAFETY: a structure of numbers, for which all zero is a value. It begins like that of the older
        // versions of the ring.
        let mut counts: libc::tpacket_stats_v3 = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the kernel writes no more than the length passed.
        let got = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        answer(got)?;
        // Reading resets the kernel's count.
        let new = u64::from(counts.tp_drops);
        self.dropped += new;
        Ok(new)
    }
}

/// Attaches a classic BPF filter to a socket of any kind.
///
/// # Errors
/// The kernel refuses.
pub fn attach_filter(socket: impl AsFd, filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_ptr().cast_mut(),
    };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Asks for a receive buffer of this many bytes, for a socket of any kind. Without `CAP_NET_ADMIN` the kernel gives no more
/// than `net.core.rmem_max`.
///
/// # Errors
/// The kernel refuses.
pub fn set_receive_buffer(socket: impl AsFd, bytes: i32) -> io::Result<()> {
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
        .or_else(|_| set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes))
}

/// Sets an option of a socket of any kind.
///
/// # Errors
/// The kernel refuses.
pub fn set_option<T: ?Sized>(socket: impl AsFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the size passed.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of_val(value) as libc::socklen_t,
        )
    };
    answer(set)
}

fn answer(value: libc::c_int) -> io::Result<()> {
    match value {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
