//! The clocks of the kernel in nanoseconds since the epoch.

use super::Error;
use std::io;

fn read(clock: libc::clockid_t) -> Result<u64, Error> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of ours.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(Error::Clock(io::Error::last_os_error()));
    }
    Ok(nanoseconds(time))
}

const fn nanoseconds(time: libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `bpf_ktime_get_ns`, read here.
pub(super) fn monotonic_ns() -> Result<u64, Error> {
    read(libc::CLOCK_MONOTONIC)
}

/// What to add to the monotonic clock to get nanoseconds since the epoch: the closest of a few
/// readings, between which the process may have been interrupted.
pub(crate) fn epoch_offset_ns() -> Result<u64, Error> {
    let mut best = (u64::MAX, 0);
    for _ in 0..16 {
        let before = monotonic_ns()?;
        let epoch = read(libc::CLOCK_REALTIME)?;
        let width = monotonic_ns()?.saturating_sub(before);
        if width < best.0 {
            best = (width, epoch.wrapping_sub(before + width / 2));
        }
    }
    Ok(best.1)
}

/// Nanoseconds in a jiffy: the coarse clock advances once a tick.
pub(super) fn tick_ns() -> Result<u64, Error> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of ours.
    if unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) } != 0 {
        return Err(Error::Clock(io::Error::last_os_error()));
    }
    Ok(nanoseconds(time).max(1))
}

/// Waits until no program that was running when this was called still runs.
pub(super) fn wait_for_readers() {
    const GLOBAL: libc::c_int = 1;
    // SAFETY: the call takes three numbers. It waits for a grace period of RCU, and every XDP
    // program runs inside a reader's section.
    let waited = unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) };
    if waited != 0 {
        // Kernels with `nohz_full` refuse. Programs run for microseconds.
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}
