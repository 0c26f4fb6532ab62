//! Time in the kernel: jiffies at every packet, nanoseconds if a run needs them.

use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::{bpf_jiffies64, bpf_ktime_get_ns};
use core::cell::Cell;
use rocescope_record::config::Slice;
use rocescope_record::{Clock, Config};

/// Non-zero: times come from `now` and `tick`, 16 bytes of metadata before the frame, so that
/// a test can give the same times to the kernel and to user space. Set when the program is loaded.
#[unsafe(no_mangle)]
static TIMES_FROM_METADATA: u32 = 0;

pub struct KernelClock<'a> {
    config: &'a Config,
    times: &'a Times,
}

/// The time state of a CPU.
#[repr(C)]
pub struct Times {
    /// `now` and `tick` of the current frame, if they come from its metadata.
    now: u64,
    tick: u64,
    /// The slice in which the latest run began.
    slice: Cell<Slice>,
}

#[inline(always)]
fn from_metadata() -> bool {
    // SAFETY: a static of this program; volatile, because user space replaces its value at load. It
    // never changes afterwards, so the verifier skips the other branch.
    unsafe { core::ptr::read_volatile(&raw const TIMES_FROM_METADATA) != 0 }
}

impl Times {
    /// Reads the times of a frame from its metadata, if it has any.
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
        // SAFETY: the bytes are before the end of the metadata.
        [self.now, self.tick] = unsafe { core::ptr::read_unaligned(from as *const [u64; 2]) };
    }

    /// The clock at this frame.
    #[inline(always)]
    pub const fn clock<'a>(&'a self, config: &'a Config) -> KernelClock<'a> {
        KernelClock { config, times: self }
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

/// Enters the slice of `now_ns`: a subprogram, because it runs once a slice.
#[inline(never)]
fn turn(config: &Config, times: &Times, now_ns: u64) -> u32 {
    times.slice.set(config.slice_at(now_ns));
    0
}
