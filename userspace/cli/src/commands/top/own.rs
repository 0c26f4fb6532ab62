//! What this process uses.

use rocescope_view::Own;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::Instant;

/// Looks at the process now and then.
#[derive(Debug)]
pub(super) struct Meter {
    looked: Instant,
    spent_ns: i128,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self {
            looked: Instant::now(),
            spent_ns: spent_ns(),
        }
    }

    /// What was used since the last look, where that lies at least a second back.
    pub(super) fn look(&mut self) -> Option<Own> {
        let now = Instant::now();
        let passed = now.duration_since(self.looked);
        if passed.as_millis() < 1_000 {
            return None;
        }
        let spent = spent_ns();
        let cpu_ratio = (spent - self.spent_ns) as f64 / passed.as_nanos() as f64;
        (self.looked, self.spent_ns) = (now, spent);
        Some(Own {
            cpu_ratio,
            resident_bytes: resident_bytes().unwrap_or(0),
        })
    }
}

/// Processor time of all threads.
fn spent_ns() -> i128 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    i128::from(spent.tv_sec) * 1_000_000_000 + i128::from(spent.tv_nsec)
}

fn resident_bytes() -> Option<u64> {
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
    fn a_process_takes_memory() {
        assert!(super::resident_bytes().unwrap() > 100_000);
    }
}
