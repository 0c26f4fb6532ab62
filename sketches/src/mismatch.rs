//! The only reason for which two sketches cannot be merged.

use core::fmt;

/// Two sketches were built with different parameters, so their counters have different meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// The parameter that differs: `"width"`, `"rows"`, `"seed"`, …
    pub parameter: &'static str,
    /// Its value in the receiving sketch.
    pub ours: u64,
    /// Its value in the other sketch.
    pub theirs: u64,
}

impl Mismatch {
    /// `Ok` if both values are equal.
    pub(crate) fn check(parameter: &'static str, ours: u64, theirs: u64) -> Result<(), Self> {
        if ours == theirs {
            Ok(())
        } else {
            Err(Self {
                parameter,
                ours,
                theirs,
            })
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            parameter,
            ours,
            theirs,
        } = self;
        write!(f, "cannot merge sketches of different {parameter}: {ours} and {theirs}")
    }
}

impl core::error::Error for Mismatch {}
