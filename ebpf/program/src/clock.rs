//! Time in the kernel: jiffies at every packet, nanoseconds where a run needs them.

use aya_ebpf::helpers::{bpf_jiffies64, bpf_ktime_get_ns};
use aya_ebpf::programs::XdpContext;
use rocescope_record::{Clock, Config};

/// Non-zero: times come from the 16 bytes of metadata before the frame, `now` and `tick`, so that
/// a test can give the same ones to the kernel and to user space. Set when the program is loaded.
#[unsafe(no_mangle)]
static TIMES_FROM_METADATA: u32 = 0;

pub struct KernelClock {
    epoch_offset_ns: u64,
    given: Option<(u64, u64)>,
}

#[inline(always)]
pub fn clock(ctx: &XdpContext, config: &Config) -> KernelClock {
    // SAFETY: a static of this program; volatile, for user space replaces its value at load.
    let from_metadata = unsafe { core::ptr::read_volatile(&raw const TIMES_FROM_METADATA) };
    let given = if from_metadata == 0 {
        None
    } else {
        metadata(ctx)
    };
    KernelClock {
        epoch_offset_ns: config.epoch_offset_ns,
        given,
    }
}

#[inline(always)]
fn metadata(ctx: &XdpContext) -> Option<(u64, u64)> {
    let (from, end) = (ctx.metadata(), ctx.metadata_end());
    if from + 16 > end {
        return None;
    }
    // SAFETY: the bytes lie before the end of the metadata.
    let [now, tick] = unsafe { core::ptr::read_unaligned(from as *const [u64; 2]) };
    Some((now, tick))
}

impl Clock for KernelClock {
    #[inline(always)]
    fn tick(&self) -> u64 {
        match self.given {
            Some((_, tick)) => tick,
            // SAFETY: the helper takes nothing.
            None => unsafe { bpf_jiffies64() },
        }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        match self.given {
            Some((now, _)) => now,
            // SAFETY: the helper takes nothing.
            None => unsafe { bpf_ktime_get_ns() }.wrapping_add(self.epoch_offset_ns),
        }
    }
}
