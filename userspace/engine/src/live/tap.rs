//! A source of single frames: a packet socket, or an RDMA device.

use crate::error::{EngineError, Result};
use crate::session::Session;
use rocescope_capture::af_packet::{Drops, PacketSocket};
use rocescope_capture::sniffer::Sniffer;
use std::os::fd::BorrowedFd;

/// A source of frames.
pub(super) enum FrameTap {
    Socket(PacketSocket),
    Device(Box<Sniffer>),
}

impl FrameTap {
    /// Passes the next frames to the session; returns whether there were some.
    pub(super) fn take(&mut self, session: &mut Session) -> Result<bool> {
        match self {
            Self::Socket(socket) => socket.next_block(|frame| session.frame(frame)),
            Self::Device(device) => device.next_frames(|frame| session.frame(frame)),
        }
    }

    /// Readable when frames wait.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Socket(socket) => socket.fd(),
            Self::Device(device) => device.fd(),
        }
    }

    /// After its descriptor was readable, before its frames are taken.
    pub(super) fn woken(&mut self) -> Result<()> {
        match self {
            Self::Socket(_) => Ok(()),
            Self::Device(device) => Ok(device.take_event()?),
        }
    }

    /// The share of the buffer that waits to be read, 0 to 1.
    pub(super) fn filled(&self) -> f64 {
        match self {
            Self::Socket(socket) => socket.ring_filled(),
            Self::Device(device) => device.filled(),
        }
    }

    /// Frames that were dropped since the last call.
    pub(super) fn new_drops(&mut self) -> Result<Option<Drops>> {
        match self {
            Self::Socket(socket) => socket.new_drops().map_err(EngineError::Socket),
            Self::Device(device) => Ok(device.new_drops()),
        }
    }

    /// Frames that were dropped since the capture began.
    pub(super) const fn dropped(&self) -> u64 {
        match self {
            Self::Socket(socket) => socket.dropped(),
            Self::Device(device) => device.dropped(),
        }
    }

    /// Ends the source; what it has stays readable.
    pub(super) fn stop(&mut self) -> Result<()> {
        match self {
            Self::Socket(socket) => socket.stop().map_err(EngineError::Socket),
            Self::Device(device) => {
                // Some kernels refuse calls of a process that has given up its capabilities. The flow ends with it.
                let _ = device.stop();
                Ok(())
            }
        }
    }

    /// What stamps the frames.
    pub(super) fn clock(&self) -> &'static str {
        match self {
            Self::Socket(_) => "kernel packet timestamps",
            Self::Device(device) if device.is_stamped() => "nic hardware",
            Self::Device(_) => "system clock when read",
        }
    }
}
