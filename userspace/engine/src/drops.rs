//! Frames dropped before this program saw them, while a capture runs.

use rocescope_host::interface::{Dropped, Interface};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of frames since the capture began; readable from any thread.
#[derive(Debug)]
pub struct Drops {
    /// Frames that each interface had dropped before the capture began, if known.
    interfaces: Vec<(Interface, Option<Dropped>)>,
    /// What XDP explains of these, and what is left; `None` without XDP.
    beside_xdp: Option<BesideXdp>,
    socket: Arc<AtomicU64>,
}

/// Frames that interfaces dropped before XDP.
///
/// Linux counts a frame that XDP has passed and that no protocol takes (LLDP, LACP, RoCE v1) as dropped by the interface,
/// beside those that the driver dropped (`rx_dropped`).
#[derive(Debug, Default)]
struct BesideXdp(AtomicU64);

impl Drops {
    /// Counts from now on; `socket` is the count of frames that packet sockets dropped. With `is_xdp` the count of
    /// interfaces is that of the last [`settle`](Self::settle).
    #[must_use]
    pub fn begin(interfaces: &[Interface], is_xdp: bool, socket: Arc<AtomicU64>) -> Self {
        let before = interfaces.iter();
        Self {
            interfaces: before
                .map(|interface| (interface.clone(), interface.dropped()))
                .collect(),
            beside_xdp: is_xdp.then(BesideXdp::default),
            socket,
        }
    }

    /// What the interfaces count since the capture began; `None` if one of them does not report it.
    #[must_use]
    pub fn counted(&self) -> Option<Dropped> {
        let since = self
            .interfaces
            .iter()
            .map(|(interface, before)| Some(interface.dropped()?.since((*before)?)));
        since.sum()
    }

    /// XDP has passed `unhandled` frames for which there is no protocol, when `counted` had been read: they explain that
    /// many frames that are not known to be missed. An ARP frame has a protocol, and explains none.
    pub fn settle(&self, counted: Option<Dropped>, unhandled: u64) {
        if let (Some(BesideXdp(lost)), Some(counted)) = (&self.beside_xdp, counted) {
            lost.fetch_max(counted.beyond(unhandled), Ordering::Relaxed);
        }
    }

    /// Frames that the interfaces dropped; `None` if one of them does not report them.
    #[must_use]
    pub fn interface_frames(&self) -> Option<u64> {
        let counted = self.counted()?;
        Some(match &self.beside_xdp {
            Some(BesideXdp(lost)) => lost.load(Ordering::Relaxed),
            None => counted.beyond(0),
        })
    }

    /// Frames dropped by full packet sockets; 0 with XDP.
    #[must_use]
    pub fn socket_frames(&self) -> u64 {
        self.socket.load(Ordering::Relaxed)
    }
}
