//! Packet pointers as [`Octets`].

use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::bpf_jiffies64;
use aya_ebpf::programs::XdpContext;
use rocescope_wire::Octets;

/// The linear part of a frame: all headers lie in it.
pub struct Frame {
    ctx: *mut xdp_md,
    start: usize,
    /// 0, which the verifier takes for anything below [`OFFSETS`].
    veil: usize,
}

/// No header lies beyond this. The verifier needs a bound on every offset, and a mask is one.
const OFFSETS: usize = 1024;

impl Frame {
    #[inline(always)]
    pub fn new(ctx: &XdpContext) -> Self {
        // SAFETY: the helper takes nothing.
        let ticks = unsafe { bpf_jiffies64() };
        // Jiffies do not reach 2^54 for half a million years.
        let veil = (ticks >> 54) as usize;
        Self {
            ctx: ctx.ctx,
            start: ctx.data(),
            veil,
        }
    }
}

impl Octets for Frame {
    #[inline(always)]
    fn settle(&self, at: usize) -> usize {
        (at + self.veil) & (OFFSETS - 1)
    }

    #[inline(always)]
    fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if at > OFFSETS - 64 {
            return None;
        }
        let from = self.start + at;
        // Volatile, for the compiler would leave out a check that an earlier one implies, and the
        // verifier knows only what was checked of this very pointer.
        // SAFETY: the context is the one the kernel called us with.
        let end = unsafe { core::ptr::read_volatile(&raw const (*self.ctx).data_end) } as usize;
        if from + N > end {
            return None;
        }
        // SAFETY: the bytes lie before the end of the packet, and any bytes are an array of bytes.
        Some(unsafe { core::ptr::read_unaligned(from as *const [u8; N]) })
    }
}
