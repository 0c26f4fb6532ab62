//! Frames onto an interface.
//!
//! | module | how |
//! |---|---|
//! | `live` | the kernel runs an XDP program that fills packets and hands them to the driver |
//! | `straight` | into a loaded XDP program, without an interface: for measurements |
//! | `looped`, `program` | what both have in common |
//! | `sent` | what has become of frames |
//! | `packet` | a packet socket, one call a frame: slower, for long frames and any driver |
//!
//! Those onto interfaces count what the kernel accepted, frame by frame: that number is what a capture on the other
//! end is held against.

mod live;
mod looped;
mod packet;
mod program;
mod sent;
mod straight;

pub use live::LiveFrames;
pub use packet::Injector;
pub use sent::Sent;
pub use straight::Straight;

/// Has this thread stay on a core, as what sends for a measurement should.
///
/// # Errors
/// There is no such core for this process.
pub fn pin(core: u32) -> Result<(), crate::xdp::error::Error> {
    crate::xdp::cpu::pin(core)
}
