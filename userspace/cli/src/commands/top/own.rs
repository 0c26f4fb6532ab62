//! What this process uses, now and then.

use crate::resources::{processor_seconds, resident_bytes};
use rocescope_view::Own;
use std::time::Instant;

/// Looks at the process at most once a second.
#[derive(Debug)]
pub(super) struct Meter {
    looked: Instant,
    spent: f64,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self {
            looked: Instant::now(),
            spent: processor_seconds(),
        }
    }

    /// What was used since the last look, where that lies at least a second back.
    pub(super) fn look(&mut self) -> Option<Own> {
        let now = Instant::now();
        let passed = now.duration_since(self.looked).as_secs_f64();
        if passed < 1.0 {
            return None;
        }
        let spent = processor_seconds();
        let cpu_ratio = (spent - self.spent) / passed;
        (self.looked, self.spent) = (now, spent);
        Some(Own {
            cpu_ratio,
            resident_bytes: resident_bytes().unwrap_or(0),
        })
    }
}
