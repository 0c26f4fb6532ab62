//! Sends frames onto an interface.
//!
//! | module | how |
//! |---|---|
//! | `live` | the kernel runs an XDP program that fills packets and hands them to the driver |
//! | `test_run` | into a loaded XDP program, without an interface: for measurements |
//! | `repeat`, `program` | shared by both |
//! | `sent` | counts of sent and refused frames |
//! | `packet` | a packet socket, one call a frame: slower, for long frames and any driver |
//!
//! Those onto interfaces count each frame that the kernel accepted: a capture on the other end is compared with
//! that number.

mod live;
mod packet;
mod program;
mod repeat;
mod sent;
mod test_run;

pub use live::LiveFrames;
pub use packet::Injector;
pub use sent::Sent;
pub use test_run::TestRun;

/// Pins this thread to a core, as a sender for measurements should.
///
/// # Errors
/// This process may not run on that core.
pub fn pin(core: u32) -> Result<(), crate::xdp::error::Error> {
    crate::xdp::cpu::pin(core)
}
