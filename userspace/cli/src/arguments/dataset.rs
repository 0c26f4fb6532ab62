//! The arguments of the dataset that a capture writes.

use super::RetentionArguments;
use crate::units::bytes;
use clap::Args;
use std::path::PathBuf;

/// The dataset that a capture writes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct DatasetArguments {
    /// Write a Parquet dataset to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Seal a segment when it reaches SIZE before compression
    #[arg(long, value_name = "SIZE", default_value = "64Mi", value_parser = bytes)]
    pub segment_bytes: u64,
    /// Omit bitmaps and Count-Min tables from the dataset
    #[arg(long)]
    pub no_sketches: bool,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
}
