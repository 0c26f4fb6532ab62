//! The arguments of every dataset that grows: when its segments are sealed, and which are deleted.

use crate::units::{DAY, bytes, positive_duration, within};
use clap::Args;
use rocescope_runtime::storage::Storage;
use std::path::Path;
use std::time::Duration;

/// When segments are sealed, and which are deleted.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct RetentionArguments {
    /// Seal a segment when its first rows are older than DURATION
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = within::<10, DAY>)]
    pub segment_age: Duration,
    /// Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when the total exceeds SIZE; the newest remain
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_bytes: Option<u64>,
    /// Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise
    /// stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of
    /// the file system, at most 1 GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_free: Option<u64>,
}

impl RetentionArguments {
    /// The dataset in this directory.
    #[must_use]
    pub fn storage(&self, root: &Path) -> Storage {
        Storage {
            root: root.to_owned(),
            segment_age: self.segment_age,
            keep_age: self.keep_age,
            keep_bytes: self.keep_bytes,
            keep_free: self.keep_free,
        }
    }
}
