//! What this process uses, look by look.

use crate::resources::{processor_seconds, resident_bytes};
use rocescope_view::Own;
use std::time::Instant;

/// Looks at the process now and then.
#[derive(Debug)]
pub(super) struct Meter {
    looked: Instant,
    spent_seconds: f64,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self {
            looked: Instant::now(),
            spent_seconds: processor_seconds(),
        }
    }

    /// What was used since the last look, where that lies at least a second back.
    pub(super) fn look(&mut self) -> Option<Own> {
        let now = Instant::now();
        let passed = now.duration_since(self.looked);
        if passed.as_millis() < 1_000 {
            return None;
        }
        let spent = processor_seconds();
        let cpu_ratio = (spent - self.spent_seconds) / passed.as_secs_f64();
        (self.looked, self.spent_seconds) = (now, spent);
        Some(Own {
            cpu_ratio,
            resident_bytes: resident_bytes().unwrap_or(0),
        })
    }
}
