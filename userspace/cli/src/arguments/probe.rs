//! The arguments of `rocescope probe`.

use super::{Output, SendArguments};
use crate::units::{bytes, duration, name, positive_duration, share};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArguments {
    /// NIC to probe from and to; at least two
    #[arg(
        short,
        long = "interface",
        value_name = "NIC",
        num_args = 1..,
        conflicts_with = "all"
    )]
    pub interfaces: Vec<String>,
    /// Probe all Ethernet interfaces that are up and have an address; with `--backend verbs`, only RDMA devices
    #[arg(long)]
    pub all: bool,
    /// Name of this host in every row and file name; default: its host name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub observer: Option<String>,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Format of the summary
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Print only the summary
    #[arg(short, long)]
    pub quiet: bool,
    /// How probes are sent and received
    #[arg(long, value_enum, default_value_t = ProbeBackend::Raw, help_heading = "Probes")]
    pub backend: ProbeBackend,
    /// Interval between two probes of a NIC
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = positive_duration, help_heading = "Probes")]
    pub interval: Duration,
    /// Count a probe without an answer after DURATION as lost
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = positive_duration, help_heading = "Probes")]
    pub timeout: Duration,
    /// UDP destination port; default: 4791, or 47910 if a NIC is an RDMA device, which reserves 4791
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Probes")]
    pub port: Option<u16>,
    /// Number of random UDP source ports of a NIC
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = "Probes")]
    pub source_ports: u16,
    /// Replace a source port after DURATION
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = positive_duration, help_heading = "Probes")]
    pub renew: Duration,
    /// Double the interval above this share of a core
    #[arg(long, value_name = "RATIO", default_value = "0.05", value_parser = share, help_heading = "Probes")]
    pub max_cpu: f64,
    /// Seed of the random numbers; default: a different one each time
    #[arg(long, value_name = "SEED", help_heading = "Probes")]
    pub seed: Option<u64>,
    /// Path traces per second and NIC; 0 disables tracing
    #[arg(long, value_name = "RATE", default_value = "0.5", value_parser = share, help_heading = "Paths")]
    pub paths_rate: f64,
    /// Maximum number of ICMP answers per second requested from one hop
    #[arg(long, value_name = "RATE", default_value = "5", value_parser = share, help_heading = "Paths")]
    pub icmp_rate: f64,
    /// Maximum number of hops of a traced path
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=31), help_heading = "Paths")]
    pub max_hops: u8,
    /// Write an unchanged path again after DURATION
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration, help_heading = "Paths")]
    pub refresh: Duration,
    /// Print a status line every DURATION
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = positive_duration)]
    pub window: Duration,
    /// Write a Parquet dataset to this directory
    #[arg(long, value_name = "DIR", help_heading = "Dataset")]
    pub out: Option<PathBuf>,
    /// Seal a segment when its first rows are older than DURATION
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = positive_duration, help_heading = "Dataset")]
    pub segment_age: Duration,
    /// Delete sealed segments whose hour ended more than DURATION ago
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, help_heading = "Dataset")]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when the total exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Dataset")]
    pub keep_bytes: Option<u64>,
    /// Keep SIZE of the file system free: with --keep-age or --keep-bytes, delete the oldest segments first; otherwise
    /// stop storing until there is space. Without this option, 5 % of the file system, at most 1 GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Dataset")]
    pub keep_free: Option<u64>,
    /// The collector.
    #[command(flatten)]
    pub send: SendArguments,
}

/// How probes are sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeBackend {
    /// Frames over packet sockets; works on any Ethernet NIC
    Raw,
    /// UD queue pairs of RDMA NICs, with hardware timestamps; paths are not traced
    Verbs,
}
