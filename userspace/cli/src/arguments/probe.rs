//! The arguments of `rocescope probe`.

use super::{Output, SendArguments};
use crate::units::{bytes, duration, name, positive_duration, share};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArguments {
    /// NIC to probe from and to; two at least
    #[arg(
        short,
        long = "interface",
        value_name = "NIC",
        num_args = 1..,
        conflicts_with = "all"
    )]
    pub interfaces: Vec<String>,
    /// Every Ethernet interface that is up and has an address; with `--backend verbs`, of those the RDMA devices
    #[arg(long)]
    pub all: bool,
    /// Name of this host, in every row and file name; unless given, its host name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub observer: Option<String>,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// How the summary is printed
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Say nothing until the summary
    #[arg(short, long)]
    pub quiet: bool,
    /// How probes get out and in
    #[arg(long, value_enum, default_value_t = ProbeBackend::Raw, help_heading = "Probes")]
    pub backend: ProbeBackend,
    /// Between two probes of a NIC
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = positive_duration, help_heading = "Probes")]
    pub interval: Duration,
    /// A probe that takes longer is lost
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = positive_duration, help_heading = "Probes")]
    pub timeout: Duration,
    /// UDP destination port; unless given 4791, or 47910 where a NIC is an RDMA device, which would
    /// keep 4791 for itself
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Probes")]
    pub port: Option<u16>,
    /// UDP source ports of a NIC, drawn by chance
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = "Probes")]
    pub source_ports: u16,
    /// How long a source port is used
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = positive_duration, help_heading = "Probes")]
    pub renew: Duration,
    /// Share of a core beyond which the interval is doubled
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = share, help_heading = "Probes")]
    pub max_cpu: f64,
    /// Seed of all chance; unless given, another each time
    #[arg(long, value_name = "N", help_heading = "Probes")]
    pub seed: Option<u64>,
    /// Traces a second and NIC; 0 for none
    #[arg(long, value_name = "N", default_value = "0.5", value_parser = share, help_heading = "Paths")]
    pub paths_rate: f64,
    /// Answers a second that any one hop is asked for
    #[arg(long, value_name = "N", default_value = "5", value_parser = share, help_heading = "Paths")]
    pub icmp_rate: f64,
    /// Hops of the longest path that is looked for
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=31), help_heading = "Paths")]
    pub max_hops: u8,
    /// A path that stays is written again after this time
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration, help_heading = "Paths")]
    pub refresh: Duration,
    /// How often a line says what was seen
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = positive_duration)]
    pub window: Duration,
    /// Write a Parquet dataset into this directory
    #[arg(long, value_name = "DIR", help_heading = "Dataset")]
    pub out: Option<PathBuf>,
    /// A segment is sealed when its first rows are this old
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = positive_duration, help_heading = "Dataset")]
    pub segment_age: Duration,
    /// Delete sealed segments whose hour ended longer ago than this
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = "Dataset")]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when all together have more bytes than this
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Dataset")]
    pub keep_bytes: Option<u64>,
    /// Where rows are sent.
    #[command(flatten)]
    pub send: SendArguments,
}

/// How probes get out and in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeBackend {
    /// As frames over packet sockets: any Ethernet NIC
    Raw,
    /// By UD queue pairs of RDMA NICs, which stamp them; paths are not traced
    Verbs,
}
