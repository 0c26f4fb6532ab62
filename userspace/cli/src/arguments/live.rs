//! The arguments of capture on interfaces.

use crate::units::{bytes, positive_duration};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

/// Capture on interfaces.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Live capture")]
pub struct LiveArguments {
    /// Interface to capture on; may be given several times
    #[arg(short, long = "interface", value_name = "IFACE", num_args = 1..)]
    pub interfaces: Vec<String>,
    /// How frames are taken; `auto` tries native, then generic XDP, then `af-packet`
    #[arg(long, value_enum, default_value_t = Mode::Auto, conflicts_with = "read")]
    pub mode: Mode,
    /// What becomes of frames behind XDP; `auto` drops them where nothing uses the interface
    #[arg(long, value_enum, default_value_t = Verdict::Auto, conflicts_with = "read")]
    pub verdict: Verdict,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = positive_duration, conflicts_with = "read")]
    pub duration: Option<Duration>,
    /// VLAN tags that the card takes out of frames: `off` has it leave them in, until the capture ends
    #[arg(long, value_enum, default_value_t = VlanOffload::Keep, conflicts_with = "read")]
    pub vlan_offload: VlanOffload,
    /// Memory of the rings that XDP hands runs over in, all CPUs together; each has from 64 KiB to 32 MiB
    #[arg(long, value_name = "BYTES", default_value = "256Mi", value_parser = bytes, conflicts_with = "read")]
    pub ring_bytes: u64,
    /// Serve figures for Prometheus at this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS", conflicts_with = "read")]
    pub metrics: Option<SocketAddr>,
    /// Flows in those figures: the largest of the last window
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "read")]
    pub metrics_flows: usize,
    /// Run this command and end with it
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "read")]
    pub command: Vec<OsString>,
}

/// How frames are taken from an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The first of the others that works
    Auto,
    /// XDP in the driver
    Native,
    /// XDP behind the driver
    Generic,
    /// A packet socket
    AfPacket,
}

/// What becomes of the card's VLAN offload while a capture runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VlanOffload {
    /// It stays as it is
    Keep,
    /// Tags stay in the frames
    Off,
}

/// What becomes of a frame when XDP has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verdict {
    /// Dropped where the interface has no address, no master and no default route
    Auto,
    /// It goes on to the kernel
    Pass,
    /// It ends here
    Drop,
}
