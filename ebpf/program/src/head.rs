//! A copy of the beginning of a frame, as [`Octets`].
//!
//! Without `CAP_PERFMON` the verifier forbids adding a variable to a pointer into a packet. So headers
//! at constant offsets are read in place, as `linear` does, and all others from a copy of the beginning
//! of the frame in a map.

use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::generated::bpf_xdp_load_bytes;
use rocescope_wire::Octets;
use rocescope_wire::octets::REACH;

/// The longest single read.
const PIECE: usize = 64;

/// A copy of the beginning of a frame.
#[repr(C)]
pub struct Head {
    /// The number of bytes.
    captured: u32,
    /// Always 0, which the verifier does not know.
    veil: u32,
    bytes: [u8; REACH + PIECE],
}

impl Head {
    /// Copies the beginning of a frame of `frame_bytes`, which may span several buffers.
    #[inline(always)]
    pub fn fill(&mut self, ctx: *mut xdp_md, frame_bytes: u32) {
        // At least 1 and at most `REACH`: the mask proves that to the verifier.
        let captured = (frame_bytes.min(REACH as u32).wrapping_sub(1) & (REACH as u32 - 1)) + 1;
        let to = self.bytes.as_mut_ptr();
        // SAFETY: there is space for that many bytes after the pointer.
        let failed = unsafe { bpf_xdp_load_bytes(ctx, 0, to.cast(), captured) };
        self.captured = if failed == 0 { captured } else { 0 };
    }
}

impl Octets for Head {
    #[inline(always)]
    fn settle(&self, at: usize) -> usize {
        // SAFETY: a reference; volatile, because the compiler must not know the value either.
        let veil = unsafe { core::ptr::read_volatile(&raw const self.veil) };
        (at + veil as usize) & (REACH - 1)
    }

    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if N > PIECE || at + N > self.captured as usize {
            return None;
        }
        // Pointer arithmetic must use the same range of numbers on every path.
        let from = self.bytes.as_ptr().wrapping_add(self.settle(at));
        // SAFETY: the offset is below `REACH`, after which there is space for a piece.
        Some(unsafe { core::ptr::read_unaligned(from.cast()) })
    }
}
