//! The cost of an agent: processor time, which bounds its rate, and memory, which is released when unused.

use anyhow::{Context, Result};
use rocescope_engine::resources::{Meter, ProgramPages, resident_bytes};

/// Above this much resident memory, release pages that were needed once: to seal a segment, to send.
const RESIDENT: u64 = 5 << 20;

pub(super) struct Cost {
    meter: Meter,
    pages: ProgramPages,
}

impl Cost {
    /// Releases the memory of the start.
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

    /// Releases memory above the bound.
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
