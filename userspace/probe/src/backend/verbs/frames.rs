//! What queue pairs cannot send.

use crate::backend::Backend;
use crate::types::Nanos;
use std::fmt::Debug;
use std::os::fd::BorrowedFd;

/// Frames of the same NICs, beside their queue pairs.
pub trait Frames: Backend + Debug {
    /// Readable when [`wait`](Backend::wait) would report something.
    fn ready(&self) -> BorrowedFd<'_>;

    /// When [`wait`](Backend::wait) is to be called all the same.
    fn next_due(&self) -> Nanos;

    /// What goes to NICs of this host goes to these queue pairs from now on, one for each NIC.
    fn reach(&mut self, queue_pairs: Vec<u32>);
}
