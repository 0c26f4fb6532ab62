//! The arguments of what a capture writes.

use crate::units::{bytes, positive_duration};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The dataset that a capture writes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct DatasetArguments {
    /// Write a Parquet dataset into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A segment is sealed when its first rows are this old
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = positive_duration)]
    pub segment_age: Duration,
    /// A segment is sealed when it has this many bytes before compression
    #[arg(long, value_name = "BYTES", default_value = "64Mi", value_parser = bytes)]
    pub segment_bytes: u64,
    /// Delete sealed segments whose hour ended longer ago than this, and such files of the flight recorder
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when all together have more bytes than this
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub keep_bytes: Option<u64>,
    /// Leave bitmaps and Count-Min tables out of the dataset
    #[arg(long)]
    pub no_sketches: bool,
}
