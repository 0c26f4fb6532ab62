//! Sending and receiving packets.
//!
//! | module | contents |
//! |---|---|
//! | [`raw`] | Ethernet frames over packet sockets, stamped by the kernel or the NIC |
//! | `verbs` | UD queue pairs of RDMA devices (not yet tested on hardware) |
//! | `system_clock` | the agent's clock in real time, and the detection of clock steps |

pub mod raw;
mod system_clock;
pub mod verbs;

use crate::types::{Clock, Event, Nanos, Nic, Outgoing, Refusal};
use std::io;

/// Why a backend is unavailable or has failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The NIC does not exist or cannot be probed.
    #[error("{nic}: {why}")]
    Nic {
        /// Its name.
        nic: String,
        /// The reason.
        why: String,
    },
    /// The kernel refused an operation.
    #[error("{what}: {cause}")]
    Io {
        /// The operation.
        what: &'static str,
        /// The error of the kernel. Part of the message and therefore not a source: an error chain would print it twice.
        cause: io::Error,
    },
}

impl From<rocescope_ibverbs::Error> for Error {
    fn from(error: rocescope_ibverbs::Error) -> Self {
        Self::at(error.what)(error.source)
    }
}

impl Error {
    pub(crate) const fn at(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { what, cause }
    }
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// The events include everything that happened before this instant.
    pub seen: Nanos,
    /// A signal interrupted the wait.
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

    /// Sends a datagram. [`wait`](Self::wait) reports when it left.
    ///
    /// # Errors
    /// Why it was not sent; that is an outcome, not a failure of the backend.
    fn send(&mut self, outgoing: &Outgoing) -> Result<(), Refusal>;

    /// Waits until `until` or until something happens, and appends it to `events`, departures before arrivals.
    ///
    /// # Errors
    /// The backend is no longer usable.
    fn wait(&mut self, until: Nanos, events: &mut Vec<Event>) -> Result<Waited, Error>;

    /// The number of frames dropped because a receive buffer was full.
    fn dropped(&mut self) -> u64 {
        0
    }
}
