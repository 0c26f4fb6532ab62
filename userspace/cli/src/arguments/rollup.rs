//! The arguments of `rocescope dataset rollup`.

use super::Output;
use crate::units::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope dataset rollup`.
///
/// Rows of `rollups/1m` are made from those that were captured, of `rollups/1h` from those of 1m, and of `rollups/1d` from
/// those of 1h, by the rule that each column has over time. A capture may write meanwhile. Run it again for the hours that
/// ended since, and for rows that came late.
#[derive(Debug, Args)]
pub struct RollupArguments {
    /// Dataset to roll up
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Leave hours that ended less than DURATION ago: rows may still come
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub settle: Duration,
    /// Store the N largest flows of each window
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub flow_rows: usize,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}
