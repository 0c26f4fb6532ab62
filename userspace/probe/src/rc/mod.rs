//! Connected (RC) queue pairs of RDMA devices: SEND, WRITE and READ between two processes, or between two queue pairs of
//! one NIC.
//!
//! | type | what it is |
//! |---|---|
//! | [`Device`] | a port of an RDMA device with a RoCEv2 GID, and its protection domain; clones share it |
//! | [`Memory`] | pages for the device to read and write, on any NUMA node or on a given one |
//! | [`Region`] | memory that is registered with a device |
//! | [`Window`] | what the peer needs to know of a region |
//! | [`QueuePair`] | an RC queue pair with a completion queue of its own |
//! | [`Address`] | what the peer needs to know of a queue pair |
//! | [`Operation`] | SEND, or WRITE or READ of a window of the peer |
//! | [`Completion`] | how an operation or a receive ended |
//!
//! Resources close when they are dropped, in any order: a queue pair and a region keep their device open, and a region
//! that is dropped during an operation makes the operation fail.
//!
//! A WRITE from one NIC to itself, into memory of NUMA node 1:
//!
//! ```no_run
//! use rocescope_probe::rc::{Device, Memory, Operation, Options, QueuePair, Region};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), rocescope_probe::rc::Error> {
//! let device = Device::open("mlx5_0", 1)?;
//! let source = Region::register(&device, Memory::new(4096)?)?;
//! let target = Region::register(&device, Memory::on_node(4096, 1)?)?;
//! let (mut requester, _responder) = QueuePair::loopback(&device, &Options::default())?;
//! let write = Operation::Write(target.window());
//! let took = requester.run(write, &source, 0..64, Duration::from_millis(100))?;
//! println!("{} ns", took.as_nanos());
//! # Ok(())
//! # }
//! ```
//!
//! For bandwidth keep several operations in flight: [`QueuePair::post`] until [`Options::depth`] are, then one more for
//! each completion that [`QueuePair::wait`] returns. Between two processes each sends the other its [`Address`] (and
//! [`Window`]) over a connection that exists, and calls [`QueuePair::connect`]. A SEND needs a receive that the peer has
//! posted ([`QueuePair::post_receive`]); WRITE and READ need nothing of the peer's process.

mod completion;
mod device;
mod memory;
mod queue_pair;
mod region;

pub use completion::{Completion, Kind};
pub use device::Device;
pub use memory::Memory;
pub use queue_pair::{Address, Operation, Options, QueuePair};
pub use region::{Region, Window};

use crate::backend;
use std::time::Duration;

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A resource is unavailable, or the kernel or the device refused a request.
    #[error(transparent)]
    Setup(#[from] backend::Error),
    /// An operation failed, and its queue pair with it: drop the queue pair and connect another one.
    #[error("the operation failed: {meaning} (status {status})")]
    Failed {
        /// The status of its completion: `ibv_wc_status`. 12 is an unanswered request.
        status: u32,
        /// Its meaning, as libibverbs words it.
        meaning: String,
    },
    /// Nothing completed in time.
    #[error("nothing completed within {limit:?}")]
    Timeout {
        /// The time limit.
        limit: Duration,
    },
    /// The request is outside of the region.
    #[error("bytes {start} to {end} are outside of a region of {bytes} bytes")]
    Outside {
        /// The first byte.
        start: usize,
        /// The byte after the last.
        end: usize,
        /// The size of the region.
        bytes: usize,
    },
}

impl Error {
    /// An error of a call that sets `errno`.
    fn last(what: &'static str) -> Self {
        Self::errno(what, std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    fn errno(what: &'static str, errno: libc::c_int) -> Self {
        Self::Setup(backend::Error::at(what)(std::io::Error::from_raw_os_error(errno)))
    }
}

/// Checks the result of a call that returns 0 or an `errno`.
fn check(what: &'static str, answer: libc::c_int) -> Result<(), Error> {
    match answer {
        0 => Ok(()),
        errno => Err(Error::errno(what, errno.abs())),
    }
}
