//! Sends frames through a packet socket.

use super::sent::Sent;
use rocescope_host::interface::Interface;
use rocescope_host::packet::{Receive, Socket};
use std::io;

/// Sends frames unchanged onto an interface, one call a frame.
#[derive(Debug)]
pub struct Injector {
    socket: Socket,
    sent: Sent,
}

impl Injector {
    /// Opens a socket that only sends.
    ///
    /// # Errors
    /// `CAP_NET_RAW` is missing, or the interface is gone.
    pub fn open(on: &Interface) -> io::Result<Self> {
        let socket = Socket::open()?;
        socket.bind(on.index, Receive::Nothing)?;
        Ok(Self {
            socket,
            sent: Sent::default(),
        })
    }

    /// Sends a frame with its Ethernet header; waits while the socket is full. Returns `false` when the
    /// queue of the interface was full.
    ///
    /// # Errors
    /// The interface is down, or the frame is too long.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        loop {
            let Err(error) = self.socket.send(frame, 0) else {
                self.sent.offered += 1;
                self.sent.accepted += 1;
                return Ok(true);
            };
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

    /// The counts so far.
    #[must_use]
    pub const fn sent(&self) -> Sent {
        self.sent
    }
}
