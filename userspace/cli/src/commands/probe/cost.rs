//! What the agent takes: time, which it is told, and memory, of which it gives back what it does not need.

use crate::resources::{ProgramPages, processor_seconds, resident_bytes};
use anyhow::{Context, Result};
use std::time::Instant;

/// With more in memory, what was needed once is given back: to seal a segment, to send.
const RESIDENT: u64 = 5 << 20;

pub(super) struct Cost {
    looked: Instant,
    /// Processor time until then, in seconds.
    spent: f64,
    pages: ProgramPages,
}

impl Cost {
    /// What it took to get here is given back.
    pub(super) fn new() -> Result<Self> {
        let cost = Self {
            looked: Instant::now(),
            spent: processor_seconds(),
            pages: ProgramPages::find().context("memory")?,
        };
        cost.release()?;
        Ok(cost)
    }

    /// The share of a core since the last call.
    pub(super) fn share(&mut self) -> f64 {
        let (now, spent) = (Instant::now(), processor_seconds());
        let seconds = now.duration_since(self.looked).as_secs_f64();
        let share = (spent - self.spent) / seconds.max(1e-3);
        (self.looked, self.spent) = (now, spent);
        share
    }

    /// Gives memory back, where there is much.
    pub(super) fn shrink(&self) -> Result<()> {
        if resident_bytes().is_some_and(|bytes| bytes > RESIDENT) {
            self.release()?;
        }
        Ok(())
    }

    fn release(&self) -> Result<()> {
        self.pages.release().context("memory")
    }
}
