//! Time in the kernel: jiffies at every packet, nanoseconds where a run needs them.

use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::{bpf_jiffies64, bpf_ktime_get_ns};
use core::cell::Cell;
use rocescope_record::config::Slice;
use rocescope_record::{Clock, Config};

/// Non-zero: times come from the 16 bytes of metadata before the frame, `now` and `tick`, so that
/// a test can give the same ones to the kernel and to user space. Set when the program is loaded.
#[unsafe(no_mangle)]
static TIMES_FROM_METADATA: u32 = 0;

pub struct KernelClock<'a> {
    config: &'a Config,
    times: &'a Times,
}

/// What a CPU knows of time.
#[repr(C)]
pub struct Times {
    /// `now` and `tick` of the frame that is looked at, where they come from its metadata.
    now: u64,
    tick: u64,
    /// The slice that the latest run began in.
    slice: Cell<Slice>,
}

#[inline(always)]
fn from_metadata() -> bool {
    // SAFETY: a static of this program; volatile, for user space replaces its value at load. It
    // never changes afterwards, so the verifier leaves out the way that is not taken.
    unsafe { core::ptr::read_volatile(&raw const TIMES_FROM_METADATA) != 0 }
}

impl Times {
    /// Takes the times of a frame, where they come with it.
    #[inline(always)]
    pub fn take(&mut self, ctx: *mut xdp_md) {
        if !from_metadata() {
            return;
        }
        // SAFETY: the context is the one the kernel called us with.
        let (from, end) = unsafe { ((*ctx).data_meta as usize, (*ctx).data as usize) };
        if from + 16 > end {
            return;
        }
        // SAFETY: the bytes lie before the end of the metadata.
        [self.now, self.tick] = unsafe { core::ptr::read_unaligned(from as *const [u64; 2]) };
    }

    /// The clock, at this frame.
    #[inline(always)]
    pub const fn clock<'a>(&'a self, config: &'a Config) -> KernelClock<'a> {
        KernelClock {
            config,
            times: self,
        }
    }
}

impl Clock for KernelClock<'_> {
    #[inline(always)]
    fn tick(&self) -> u64 {
        if from_metadata() {
            return self.times.tick;
        }
        // SAFETY: the helper takes nothing.
        unsafe { bpf_jiffies64() }
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        if from_metadata() {
            return self.times.now;
        }
        // SAFETY: the helper takes nothing.
        unsafe { bpf_ktime_get_ns() }.wrapping_add(self.config.epoch_offset_ns)
    }

    #[inline(always)]
    fn ticks_left(&self, config: &Config, now_ns: u64) -> u64 {
        if !self.times.slice.get().holds(now_ns) {
            turn(config, self.times, now_ns);
        }
        config.ticks_left_in(&self.times.slice.get(), now_ns)
    }
}

/// Takes the slice of `now_ns`: a subprogram, for it is done once a slice.
#[inline(never)]
fn turn(config: &Config, times: &Times, now_ns: u64) -> u32 {
    times.slice.set(config.slice_at(now_ns));
    0
}
