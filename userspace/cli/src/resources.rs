//! What this process uses.

use rustix::time::{ClockId, clock_gettime};
use std::fs;

/// Processor time of all threads so far, in seconds.
#[must_use]
pub fn processor_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Memory that is really there, in bytes.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_takes_memory_and_time() {
        assert!(super::resident_bytes().unwrap() > 100_000);
        let before = super::processor_seconds();
        while super::processor_seconds() <= before {}
    }
}
