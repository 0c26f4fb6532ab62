//! The arguments of every dataset that grows: when its segments are sealed, and which are deleted.

use crate::units::{DAY, bytes, positive_duration, within};
use clap::Args;
use rocescope_model::Resolution;
use rocescope_runtime::retention::KeepRollups;
use rocescope_runtime::storage::Storage;
use std::path::Path;
use std::time::Duration;

/// Rows of flows in the windows of rollups where no capture sets it.
const FLOW_ROWS: usize = 1_000;

/// When segments are sealed, and which are deleted.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct RetentionArguments {
    /// Seal a segment when its first rows are older than DURATION
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = within::<10, DAY>)]
    pub segment_age: Duration,
    /// Delete sealed segments, and recordings of a capture, whose hour ended more than DURATION ago; what is read from files
    /// stays
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when the total exceeds SIZE; the newest remain
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_bytes: Option<u64>,
    /// Make rollups, and delete those of a resolution that ended longer ago, such as `1m=60d,1h=2y`; those without an age,
    /// as in `1m=60d,1h,1d`, remain
    #[arg(long, value_name = "AGES", value_parser = rollups)]
    pub keep_rollups: Option<RollupAges>,
    /// Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise
    /// stop storing until there is space; agents of a collector keep their rows until then. Without this option, 5 % of
    /// the file system, at most 1 GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_free: Option<u64>,
}

/// How long the rollups of each resolution are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollupAges(Vec<(Resolution, Duration)>);

/// Reads `1m=60d,1h=2y`.
fn rollups(text: &str) -> Result<RollupAges, String> {
    let mut ages = Vec::new();
    for part in text.split(',') {
        let (name, age) = part
            .split_once('=')
            .map_or((part, None), |(name, age)| (name, Some(age)));
        let resolution = name.trim().parse::<Resolution>().ok();
        let resolution = resolution.filter(|resolution| *resolution != Resolution::Captured);
        let resolution = resolution.ok_or_else(|| format!("`{part}`: expected 1m, 1h or 1d, such as 1m=60d"))?;
        if let Some(age) = age {
            ages.push((resolution, positive_duration(age.trim())?));
        }
    }
    Ok(RollupAges(ages))
}

impl RetentionArguments {
    /// The rollups, with this many rows of flows in a window.
    #[must_use]
    pub fn rollups(&self, flow_rows: usize) -> Option<KeepRollups> {
        let RollupAges(ages) = self.keep_rollups.clone()?;
        Some(KeepRollups { ages, flow_rows })
    }

    /// The dataset in this directory.
    #[must_use]
    pub fn storage(&self, root: &Path) -> Storage {
        Storage {
            root: root.to_owned(),
            segment_age: self.segment_age,
            keep_age: self.keep_age,
            keep_bytes: self.keep_bytes,
            keep_rollups: self.rollups(FLOW_ROWS),
            keep_free: self.keep_free,
        }
    }
}
