//! The arguments of capture on interfaces.

use crate::units::{bytes, count, positive_duration, socket_address};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

/// Capture on interfaces.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Live capture")]
pub struct LiveArguments {
    /// Interface to capture on, or RDMA device such as `mlx5_0`, whose own traffic bypasses the kernel; repeatable
    #[arg(short, long = "interface", value_name = "IFACE", num_args = 1..)]
    pub interfaces: Vec<String>,
    /// How frames of an interface are captured; `auto` tries native XDP, then generic XDP, then `af-packet`
    #[arg(long, value_enum, default_value_t = Mode::Auto, conflicts_with = "read")]
    pub mode: Mode,
    /// Frames that arrive, that leave, or both; XDP sees arriving frames only, so `out` and `both` use packet sockets
    #[arg(long, value_enum, default_value_t = Direction::In, conflicts_with = "read")]
    pub direction: Direction,
    /// What happens to frames after XDP; `auto` drops them if nothing else uses the interface
    #[arg(long, value_enum, default_value_t = Verdict::Auto, conflicts_with = "read")]
    pub verdict: Verdict,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with = "read")]
    pub duration: Option<Duration>,
    /// VLAN offload of the NIC; `off` leaves tags in the frames while the capture runs
    #[arg(long, value_enum, default_value_t = VlanOffload::Keep, conflicts_with = "read")]
    pub vlan_offload: VlanOffload,
    /// Memory for the XDP ring buffers of all CPUs; each buffer has 64 KiB to 32 MiB
    #[arg(long, value_name = "SIZE", default_value = "256Mi", value_parser = bytes, conflicts_with = "read")]
    pub ring_bytes: u64,
    /// Serve Prometheus metrics on this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address, conflicts_with = "read")]
    pub metrics: Option<SocketAddr>,
    /// Number of flows in the metrics: the largest of the last window
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = count, conflicts_with = "read")]
    pub metrics_flows: usize,
    /// Run COMMAND, stop when it exits, and exit with its status
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "read")]
    pub command: Vec<OsString>,
}

/// How frames are captured from an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// First of the other modes that works
    Auto,
    /// XDP in the driver
    Native,
    /// XDP after the driver
    Generic,
    /// Packet socket
    AfPacket,
}

/// Frames of which direction are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// Frames that arrive
    In,
    /// Frames that this host sends
    Out,
    /// All frames
    Both,
}

/// The VLAN offload of the NIC while a capture runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VlanOffload {
    /// Leave it unchanged
    Keep,
    /// Leave tags in the frames
    Off,
}

/// What happens to a frame after XDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verdict {
    /// Drop if the interface has no address, no master and no default route
    Auto,
    /// Pass frames to the kernel
    Pass,
    /// Drop frames
    Drop,
}
