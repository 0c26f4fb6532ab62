//! The arguments of the flight recorder.

use crate::units::{bytes, seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Keeps frames in memory, and writes those around events.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flight recorder")]
pub struct RecorderArguments {
    /// Keep the headers of the last SECONDS of frames in memory, and write a pcapng file around each NAK,
    /// RNR NAK and jitter event; on interfaces, this uses packet sockets
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub keep_frames: Option<Duration>,
    /// Directory of the recordings; default: `_frames` in the dataset
    #[arg(long, value_name = "DIR")]
    pub keep_frames_dir: Option<PathBuf>,
    /// Memory for headers; when it is full, the oldest are overwritten early
    #[arg(long, value_name = "SIZE", default_value = "64Mi", value_parser = bytes)]
    pub keep_frames_memory: u64,
    /// Maximum total size of the recordings; the oldest earlier ones are deleted to make room
    #[arg(long, value_name = "SIZE", default_value = "1Gi", value_parser = bytes)]
    pub keep_frames_disk: u64,
    /// Start at most COUNT recordings per hour
    #[arg(long, value_name = "COUNT", default_value_t = 60)]
    pub keep_frames_per_hour: usize,
}
