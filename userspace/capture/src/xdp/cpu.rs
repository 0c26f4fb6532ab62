//! Pins threads to CPUs.

use super::error::Error;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that are online.
pub(super) fn online() -> Result<Vec<u32>, Error> {
    aya::util::online_cpus().map_err(|(path, source)| Error::Cpus { path, source })
}

/// The number of possible CPUs.
pub(super) fn possible() -> Result<usize, Error> {
    aya::util::nr_cpus().map_err(|(path, source)| Error::Cpus { path, source })
}

/// Runs `work` on `cpu`, then restores the affinity of this thread.
pub(super) fn pinned<R>(cpu: u32, work: impl FnOnce() -> R) -> Result<R, Error> {
    let closed = |source: Errno| Error::Cpu {
        cpu,
        source: source.into(),
    };
    let before = sched_getaffinity(None).map_err(closed)?;
    pin(cpu)?;
    let result = work();
    sched_setaffinity(None, &before).map_err(closed)?;
    Ok(result)
}

/// Moves this thread to `cpu`.
pub(crate) fn pin(cpu: u32) -> Result<(), Error> {
    let mut one = CpuSet::new();
    let pinned = if (cpu as usize) < CpuSet::MAX_CPU {
        one.set(cpu as usize);
        sched_setaffinity(None, &one)
    } else {
        Err(Errno::INVAL)
    };
    pinned.map_err(|source| Error::Cpu {
        cpu,
        source: source.into(),
    })
}
