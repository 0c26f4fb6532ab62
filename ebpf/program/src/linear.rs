//! Reads the bytes of a frame in place, at constant offsets.

use aya_ebpf::bindings::xdp_md;
use rocescope_wire::Octets;

/// The linear part of a frame, read in place at constant offsets.
pub struct Linear {
    ctx: *mut xdp_md,
}

impl Linear {
    #[inline(always)]
    pub const fn new(ctx: *mut xdp_md) -> Self {
        Self { ctx }
    }
}

impl Octets for Linear {
    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        // Volatile, because the compiler would omit a check that an earlier one implies, while the
        // verifier tracks the checks of each pointer separately. It would also keep pointers on the stack.
        // SAFETY: the context is the one the kernel called us with.
        let (from, end) = unsafe {
            (
                core::ptr::read_volatile(&raw const (*self.ctx).data) as usize + at,
                core::ptr::read_volatile(&raw const (*self.ctx).data_end) as usize,
            )
        };
        if from + N > end {
            return None;
        }
        // SAFETY: the bytes are before the end of the packet, and any bytes are an array of bytes.
        Some(unsafe { core::ptr::read_unaligned(from as *const [u8; N]) })
    }

    #[inline(always)]
    fn front(&self, bytes: usize) -> Option<impl Octets> {
        // SAFETY: as above.
        let (from, end) = unsafe {
            (
                core::ptr::read_volatile(&raw const (*self.ctx).data) as usize,
                core::ptr::read_volatile(&raw const (*self.ctx).data_end) as usize,
            )
        };
        (from + bytes <= end).then_some(Front { from, bytes })
    }
}

/// The first bytes of a frame, which are there. Their number and all offsets are constants.
struct Front {
    from: usize,
    bytes: usize,
}

impl Octets for Front {
    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if at + N > self.bytes {
            return None;
        }
        // SAFETY: the bytes are before the end of the packet, and any bytes are an array of bytes.
        Some(unsafe { core::ptr::read_unaligned((self.from + at) as *const [u8; N]) })
    }
}
