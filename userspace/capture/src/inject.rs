//! Frames onto an interface, through a packet socket.

use crate::af_packet::bind;
use crate::interface::{self, Interface};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Puts frames onto an interface as they are.
#[derive(Debug)]
pub struct Injector {
    socket: OwnedFd,
}

impl Injector {
    /// Opens a socket that sends and takes nothing in.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing, or the interface is gone.
    pub fn open(on: &Interface) -> io::Result<Self> {
        let socket = interface::socket(libc::AF_PACKET, libc::SOCK_RAW)?;
        bind(socket.as_raw_fd(), on.index, 0)?;
        Ok(Self { socket })
    }

    /// Sends a frame, Ethernet header and all; waits while the socket is full.
    ///
    /// # Errors
    /// The interface does not take it: it is down, or the frame is too long.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the kernel reads no more than the length it is told.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
            )
        };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}
