//! The cost of an agent: processor time, which bounds its rate, and memory, which is released when unused.

use crate::error::{Result, RuntimeError};
use crate::resources::{Meter, release_program_pages, resident_bytes};

/// Above this much resident memory, release pages that were needed once: to seal a segment, to send.
const RESIDENT: u64 = 5 << 20;

/// The cost of this process since the start.
#[derive(Debug)]
pub struct Cost {
    meter: Meter,
}

impl Cost {
    /// Releases the memory of the start.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn new() -> Result<Self> {
        release_program_pages().map_err(RuntimeError::Memory)?;
        Ok(Self {
            meter: Meter::default(),
        })
    }

    /// The share of a core since the last call.
    pub fn share(&mut self) -> f64 {
        self.meter.share()
    }

    /// Releases memory above the bound.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn shrink(&self) -> Result<()> {
        if is_above() {
            release_program_pages().map_err(RuntimeError::Memory)?;
        }
        Ok(())
    }
}

/// Releases memory above the bound between two steps of a long task. Its failure costs memory only.
pub fn shrink_between_steps() {
    if is_above() {
        let _ = release_program_pages();
    }
}

fn is_above() -> bool {
    resident_bytes().is_some_and(|bytes| bytes > RESIDENT)
}
