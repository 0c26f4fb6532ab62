//! How packets get out and in.
//!
//! | module | what it holds |
//! |---|---|
//! | [`raw`] | whole Ethernet frames by packet sockets, stamped by the kernel |
//! | [`simulated`] | a host of a simulated fabric |
//! | `verbs` | UD queue pairs of RDMA devices (feature `verbs`; it has run on no hardware yet) |
//! | `system_clock` | the agent's clock where time is real, and when it is set |

pub mod raw;
pub mod simulated;
mod system_clock;
#[cfg(feature = "verbs")]
pub mod verbs;

use crate::types::{Clock, Event, Nanos, Nic, Outgoing, Refusal};
use std::io;

/// Why a backend cannot be had, or used any longer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such NIC, or it cannot be probed.
    #[error("{nic}: {why}")]
    Nic {
        /// Its name.
        nic: String,
        /// What is the matter.
        why: String,
    },
    /// The kernel refuses.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Error {
    pub(crate) const fn at(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

/// What became of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// All that happened before this instant is among the events.
    pub seen: Nanos,
    /// A signal came.
    pub woken: bool,
}

/// Moves datagrams and stamps them.
pub trait Backend {
    /// The NICs, in the order of their indices.
    fn nics(&self) -> &[Nic];

    /// What stamps (2) and (3).
    fn clock(&self) -> Clock;

    /// The agent's clock, now.
    fn now(&self) -> Nanos;

    /// Sends a datagram. That it left, and when, is told by [`wait`](Self::wait).
    ///
    /// # Errors
    /// Why it was not sent; that is an outcome and no failure of the backend.
    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal>;

    /// Waits until `until`, or until something happened; what did is appended to `events`, departures
    /// before arrivals.
    ///
    /// # Errors
    /// The backend can no longer be used.
    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error>;

    /// Frames that found no room before anybody could look at them, so far.
    fn dropped(&mut self) -> u64 {
        0
    }
}
