//! CPUs, and a thread that runs on a chosen one.

use super::Error;
use std::io;

/// The CPUs that are online.
pub(super) fn online() -> Result<Vec<u32>, Error> {
    aya::util::online_cpus().map_err(|(path, source)| Error::Cpus { path, source })
}

/// How many CPUs there may ever be.
pub(super) fn possible() -> Result<usize, Error> {
    aya::util::nr_cpus().map_err(|(path, source)| Error::Cpus { path, source })
}

/// Runs `work` on `cpu` and leaves this thread where it may go everywhere it could before.
pub(super) fn pinned<R>(cpu: u32, work: impl FnOnce() -> R) -> Result<R, Error> {
    let before = affinity()?;
    pin(cpu)?;
    let result = work();
    set(&before).map_err(|source| Error::Cpu { cpu, source })?;
    Ok(result)
}

/// Moves this thread to `cpu`.
pub(crate) fn pin(cpu: u32) -> Result<(), Error> {
    // SAFETY: a set of bits, for which all zero is the empty one.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if cpu as usize >= 8 * size_of::<libc::cpu_set_t>() {
        let source = io::Error::from_raw_os_error(libc::EINVAL);
        return Err(Error::Cpu { cpu, source });
    }
    // SAFETY: the bit lies in the set: just checked.
    unsafe { libc::CPU_SET(cpu as usize, &mut one) };
    set(&one).map_err(|source| Error::Cpu { cpu, source })
}

fn affinity() -> Result<libc::cpu_set_t, Error> {
    // SAFETY: as above.
    let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes no more than the size it is told.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&cpus), &raw mut cpus) } {
        0 => Ok(cpus),
        _ => Err(Error::Cpu {
            cpu: 0,
            source: io::Error::last_os_error(),
        }),
    }
}

fn set(cpus: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the size it is told.
    match unsafe { libc::sched_setaffinity(0, size_of_val(cpus), cpus) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
