//! The arguments of the dataset that a capture writes.

use crate::units::{bytes, positive_duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The dataset that a capture writes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct DatasetArguments {
    /// Write a Parquet dataset to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seal a segment when its first rows are older than DURATION
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = positive_duration)]
    pub segment_age: Duration,
    /// Seal a segment when it reaches SIZE before compression
    #[arg(long, value_name = "SIZE", default_value = "64Mi", value_parser = bytes)]
    pub segment_bytes: u64,
    /// Delete sealed segments and recordings whose hour ended more than DURATION ago
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when the total exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_bytes: Option<u64>,
    /// Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise
    /// stop storing until there is space. Without this option, 5 % of the file system, at most 1 GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_free: Option<u64>,
    /// Omit bitmaps and Count-Min tables from the dataset
    #[arg(long)]
    pub no_sketches: bool,
}
