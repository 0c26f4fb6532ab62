//! What was dropped before this program saw it, while a capture runs.

use rocescope_host::interface::Interface;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of frames since the capture began; they may be looked at from any thread.
#[derive(Debug)]
pub struct Drops {
    /// What each interface had dropped when it began, where that is known.
    interfaces: Vec<(Interface, Option<u64>)>,
    socket: Arc<AtomicU64>,
}

impl Drops {
    /// From now on; `socket` is what packet sockets have dropped so far.
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

    /// Frames that the interfaces dropped; nothing is known where one does not tell.
    #[must_use]
    pub fn interface_frames(&self) -> Option<u64> {
        let since = self
            .interfaces
            .iter()
            .map(|(interface, before)| Some(interface.dropped()?.saturating_sub((*before)?)));
        since.sum()
    }

    /// Frames that found the packet sockets full; none where frames are taken by XDP.
    #[must_use]
    pub fn socket_frames(&self) -> u64 {
        self.socket.load(Ordering::Relaxed)
    }
}
