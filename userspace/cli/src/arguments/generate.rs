//! The arguments of `rocescope generate`.

use super::Output;
use crate::units::positive_duration;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// Scenario file (TOML); `docs/scenarios.md` explains every key
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Capture file to write (pcap, nanoseconds); the truth goes to `FILE.truth.json`
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "iface",
        conflicts_with = "iface"
    )]
    pub write: Option<PathBuf>,
    /// Seed: the same one gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Bytes kept of each frame
    #[arg(long, value_name = "BYTES")]
    pub snaplen: Option<u32>,
    /// An interface instead of a file
    #[command(flatten)]
    pub onto: OntoArguments,
}

/// Frames onto an interface.
#[derive(Debug, Args)]
#[command(next_help_heading = "Onto an interface")]
pub struct OntoArguments {
    /// Interface to send on: at the scenario's own times, unless a rate is given
    #[arg(long, value_name = "IFACE")]
    pub iface: Option<String>,
    /// Send the first 16,384 frames of the scenario over and over, so many a second
    #[arg(long, value_name = "N", requires = "iface", value_parser = clap::value_parser!(u32).range(1..))]
    pub pps: Option<u32>,
    /// The same, as fast as the kernel takes them
    #[arg(long, requires = "iface", conflicts_with = "pps")]
    pub full_speed: bool,
    /// End after so many frames
    #[arg(long, value_name = "N", requires = "iface")]
    pub count: Option<u64>,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = positive_duration, requires = "iface")]
    pub duration: Option<Duration>,
    /// How frames get into the kernel; `auto` makes live frames from 50,000 a second on
    #[arg(long, value_enum, default_value_t = By::Auto, requires = "iface")]
    pub by: By,
    /// How the result is printed
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// How frames get into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Whatever suits the rate and the frames
    Auto,
    /// Packets that the kernel makes, filled by an XDP program; takes a core
    Live,
    /// A packet socket
    Packet,
}
