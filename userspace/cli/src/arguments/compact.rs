//! The arguments of `rocescope dataset compact`.

use super::Output;
use crate::units::{bytes, duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope dataset compact`.
///
/// Rows stay as they are, and a capture may write meanwhile. Only segments with the same observer and metadata are joined.
#[derive(Debug, Args)]
pub struct CompactArguments {
    /// Dataset to compact
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Join segments up to SIZE; those of half of it stay as they are
    #[arg(long, value_name = "SIZE", default_value = "256Mi", value_parser = bytes)]
    pub segment_bytes: u64,
    /// Leave hours that ended less than DURATION ago: rows may still come
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub settle: Duration,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}
