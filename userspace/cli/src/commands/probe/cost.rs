//! What the agent takes: time, which it is told, and memory, of which it gives back what it does not need.

use anyhow::{Context, Result};
use rocescope_engine::resources::{Meter, ProgramPages, resident_bytes};

/// With more in memory, what was needed once is given back: to seal a segment, to send.
const RESIDENT: u64 = 5 << 20;

pub(super) struct Cost {
    meter: Meter,
    pages: ProgramPages,
}

impl Cost {
    /// What it took to get here is given back.
    pub(super) fn new() -> Result<Self> {
        let cost = Self {
            meter: Meter::default(),
            pages: ProgramPages::find().context("memory")?,
        };
        cost.release()?;
        Ok(cost)
    }

    /// The share of a core since the last call.
    pub(super) fn share(&mut self) -> f64 {
        self.meter.share()
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
