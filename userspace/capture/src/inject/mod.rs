//! Frames onto an interface.
//!
//! | module | how |
//! |---|---|
//! | `live` | the kernel runs an XDP program that fills packets and hands them to the driver |
//! | `straight` | into a loaded XDP program, without an interface: for measurements |
//! | `looped`, `program` | what both have in common |
//! | `packet` | a packet socket, one call a frame: slower, for long frames and any driver |
//!
//! Those onto interfaces count what the kernel accepted, frame by frame: that number is what a capture on the other
//! end is held against.

mod live;
mod looped;
mod packet;
mod program;
mod straight;

pub use live::LiveFrames;
pub use packet::Injector;
pub use straight::Straight;

/// Has this thread stay on a core, as what sends for a measurement should.
///
/// # Errors
/// There is no such core for this process.
pub fn pin(core: u32) -> Result<(), crate::xdp::Error> {
    crate::xdp::pin(core)
}

/// What has become of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Given to the kernel.
    pub offered: u64,
    /// Taken by the driver, to be sent.
    pub accepted: u64,
    /// Refused by the driver: its queue was full.
    pub dropped: u64,
}

impl Sent {
    /// Refused before they came to the driver: the interface is down, the frame too long for it.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.offered
            .saturating_sub(self.accepted)
            .saturating_sub(self.dropped)
    }
}
