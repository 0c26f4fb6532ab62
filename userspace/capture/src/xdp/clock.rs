//! The clocks of the kernel in nanoseconds since the epoch.

use rustix::thread::{MembarrierCommand, membarrier};
use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

fn read(clock: ClockId) -> u64 {
    nanoseconds(clock_gettime(clock))
}

const fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The clock of `bpf_ktime_get_ns`.
pub(super) fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// The difference between the epoch clock and the monotonic clock: the closest of several readings,
/// because the process may be interrupted between two.
pub(crate) fn epoch_offset_ns() -> u64 {
    let mut best = (u64::MAX, 0);
    for _ in 0..16 {
        let before = monotonic_ns();
        let epoch = read(ClockId::Realtime);
        let width = monotonic_ns().saturating_sub(before);
        if width < best.0 {
            best = (width, epoch.wrapping_sub(before + width / 2));
        }
    }
    best.1
}

/// Nanoseconds in a jiffy: the coarse clock advances once a tick.
pub(super) fn tick_ns() -> u64 {
    nanoseconds(clock_getres(ClockId::MonotonicCoarse)).max(1)
}

/// Waits until every program that runs at the time of the call has ended.
pub(super) fn wait_for_readers() {
    // Waits for an RCU grace period; every XDP program runs inside a read-side section.
    if membarrier(MembarrierCommand::Global).is_err() {
        // Kernels with `nohz_full` refuse. Programs run for microseconds.
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
