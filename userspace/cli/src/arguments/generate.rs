//! The arguments of `rocescope generate`.

use super::Output;
use crate::units::positive_duration;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// Scenario file (TOML), or a built-in class of traffic such as `spray-loss`; `docs/scenarios.md` explains them
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Capture file to write (pcap, nanoseconds); the ground truth goes to `FILE.truth.json`
    #[arg(short, long, value_name = "FILE", conflicts_with = "iface")]
    pub write: Option<PathBuf>,
    /// Seed of the random numbers; the same seed gives the same bytes
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Truncate each frame to BYTES
    #[arg(long, value_name = "BYTES")]
    pub snaplen: Option<u32>,
    /// The interface to send on.
    #[command(flatten)]
    pub onto: OntoArguments,
}

/// Sends frames on an interface.
#[derive(Debug, Args)]
#[command(next_help_heading = "Send on an interface")]
pub struct OntoArguments {
    /// Interface to send on, at the times of the scenario unless a rate is given
    #[arg(long, value_name = "IFACE")]
    pub iface: Option<String>,
    /// Repeat the first 16,384 frames of the scenario at RATE frames per second
    #[arg(long, value_name = "RATE", requires = "iface", value_parser = clap::value_parser!(u32).range(1..))]
    pub pps: Option<u32>,
    /// Repeat the first 16,384 frames of the scenario as fast as the kernel accepts them
    #[arg(long, requires = "iface", conflicts_with = "pps")]
    pub full_speed: bool,
    /// Stop after COUNT frames
    #[arg(long, value_name = "COUNT", requires = "iface")]
    pub count: Option<u64>,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, requires = "iface")]
    pub duration: Option<Duration>,
    /// How frames are sent; `auto` selects live frames at 50,000 frames per second and above
    #[arg(long, value_enum, default_value_t = SendMethod::Auto, requires = "iface")]
    pub by: SendMethod,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// How frames are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SendMethod {
    /// Select by the rate and size of the frames
    Auto,
    /// XDP live frames: the kernel makes packets, an XDP program fills them; uses a whole core
    Live,
    /// Packet socket
    Packet,
}
