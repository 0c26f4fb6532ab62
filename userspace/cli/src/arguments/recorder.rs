//! The arguments of the flight recorder.

use crate::units::{bytes, seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Frames kept in memory, and written around events.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Flight recorder")]
pub struct RecorderArguments {
    /// Hold the headers of this many seconds of frames in memory, and write a pcapng file around each NAK,
    /// RNR NAK and jitter event; on interfaces takes packet sockets
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub keep_frames: Option<Duration>,
    /// Where these files go; `_frames` in the dataset unless given
    #[arg(long, value_name = "DIR")]
    pub keep_frames_dir: Option<PathBuf>,
    /// Memory for headers; when it is full the oldest go before their time
    #[arg(long, value_name = "BYTES", default_value = "64Mi", value_parser = bytes)]
    pub keep_frames_memory: u64,
    /// These files have no more bytes than this, earlier ones too, of which the oldest make room
    #[arg(long, value_name = "BYTES", default_value = "1Gi", value_parser = bytes)]
    pub keep_frames_disk: u64,
    /// Begin so many files in an hour at most
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub keep_frames_per_hour: usize,
}
