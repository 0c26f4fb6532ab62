//! Sends frames onto an interface.
//!
//! | module | how |
//! |---|---|
//! | `live` | the kernel runs an XDP program that fills packets and hands them to the driver |
//! | `straight` | into a loaded XDP program, without an interface: for measurements |
//! | `looped`, `program` | shared by both |
//! | `sent` | counts of sent and refused frames |
//! | `packet` | a packet socket, one call a frame: slower, for long frames and any driver |
//!
//! Those onto interfaces count each frame that the kernel accepted: a capture on the other end is compared with
//! that number.

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

/// Pins this thread to a core, as a sender for measurements should.
///
/// # Errors
/// This process may not run on that core.
pub fn pin(core: u32) -> Result<(), crate::xdp::error::Error> {
    crate::xdp::cpu::pin(core)
}
