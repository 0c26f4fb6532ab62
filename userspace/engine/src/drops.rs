//! Frames dropped before this program saw them, while a capture runs.

use rocescope_host::interface::Interface;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of frames since the capture began; readable from any thread.
#[derive(Debug)]
pub struct Drops {
    /// Frames that each interface had dropped before the capture began, if known.
    interfaces: Vec<(Interface, Option<u64>)>,
    socket: Arc<AtomicU64>,
}

impl Drops {
    /// Counts from now on; `socket` is the count of frames that packet sockets dropped.
    #[must_use]
    pub fn begin(interfaces: &[Interface], socket: Arc<AtomicU64>) -> Self {
        let before = interfaces.iter();
        Self {
            interfaces: before
                .map(|interface| (interface.clone(), interface.dropped()))
                .collect(),
            socket,
        }
    }

    /// Frames that the interfaces dropped; `None` if one of them does not report them.
    #[must_use]
    pub fn interface_frames(&self) -> Option<u64> {
        let since = self
            .interfaces
            .iter()
            .map(|(interface, before)| Some(interface.dropped()?.saturating_sub((*before)?)));
        since.sum()
    }

    /// Frames dropped by full packet sockets; 0 with XDP.
    #[must_use]
    pub fn socket_frames(&self) -> u64 {
        self.socket.load(Ordering::Relaxed)
    }
}
