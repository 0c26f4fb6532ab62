//! Frames onto an interface, through a packet socket.

use super::Sent;
use crate::af_packet::bind;
use crate::interface::{self, Interface};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Puts frames onto an interface as they are, one call a frame.
#[derive(Debug)]
pub struct Injector {
    socket: OwnedFd,
    sent: Sent,
}

impl Injector {
    /// Opens a socket that sends and takes nothing in.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing, or the interface is gone.
    pub fn open(on: &Interface) -> io::Result<Self> {
        let socket = interface::socket(libc::AF_PACKET, libc::SOCK_RAW)?;
        bind(socket.as_raw_fd(), on.index, 0)?;
        Ok(Self {
            socket,
            sent: Sent::default(),
        })
    }

    /// Sends a frame, Ethernet header and all; waits while the socket is full. Whether the interface
    /// took it: its queue may be full.
    ///
    /// # Errors
    /// The interface does not take it: it is down, or the frame is too long.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        loop {
            // SAFETY: the kernel reads no more than the length it is told.
            let sent = unsafe {
                libc::send(
                    self.socket.as_raw_fd(),
                    frame.as_ptr().cast(),
                    frame.len(),
                    0,
                )
            };
            if sent >= 0 {
                self.sent.offered += 1;
                self.sent.accepted += 1;
                return Ok(true);
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOBUFS) => {
                    self.sent.offered += 1;
                    self.sent.dropped += 1;
                    return Ok(false);
                }
                Some(libc::EINTR) => {}
                _ => return Err(error),
            }
        }
    }

    /// What has become of all frames so far.
    #[must_use]
    pub const fn sent(&self) -> Sent {
        self.sent
    }
}
