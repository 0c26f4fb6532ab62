//! The arguments of `rocescope probe`.

use super::{Output, RetentionArguments};
use crate::units::{DAY, HOUR, each_second, name, positive_duration, share_of_core, within};
use clap::{Args, ValueEnum};
use rocescope_agent::probes::ProbeSettings;
use rocescope_agent::probes::settings::{OperationSettings, PeerFile, ProbeBackend as Backend};
use rocescope_agent::settings::ProbePace;
use rocescope_probe::peers::list::PeerRails;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope probe`.
#[derive(Clone, Debug, Args)]
pub struct ProbeArguments {
    /// NIC to probe from and to; at least two, or one with `--peers`
    #[arg(
        short,
        long = "interface",
        value_name = "NIC",
        num_args = 1..,
        conflicts_with = "all"
    )]
    pub interfaces: Vec<String>,
    /// Probe all RDMA devices; without any, all NICs that have routes to each other, and with `--backend verbs` none. Bridges,
    /// tunnels and management ports are left out
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
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = within::<1, HOUR>, help_heading = "Probes")]
    pub interval: Duration,
    /// Count a probe without an answer after DURATION as lost
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = within::<1, 60_000>, help_heading = "Probes")]
    pub timeout: Duration,
    /// UDP destination port; default: 4791, or 47910 if a NIC is an RDMA device, which reserves 4791
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Probes")]
    pub port: Option<u16>,
    /// Number of random UDP source ports of a NIC
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = "Probes")]
    pub source_ports: u16,
    /// Replace a source port after DURATION
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = within::<100, DAY>, help_heading = "Probes")]
    pub renew: Duration,
    /// DSCPs of probes and path traces, separated by commas; the source ports take them in turn. Probe the classes that the
    /// traffic uses: each has its own queues in the switches
    #[arg(long, value_name = "DSCP", default_value = "0", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(..64), help_heading = "Probes")]
    pub dscp: Vec<u8>,
    /// Double the interval above this share of a core
    #[arg(long, value_name = "RATIO", default_value = "0.05", value_parser = share_of_core, help_heading = "Probes")]
    pub max_cpu: f64,
    /// Seed of the random numbers; default: a different one each time
    #[arg(long, value_name = "SEED", help_heading = "Probes")]
    pub seed: Option<u64>,
    /// Path traces per second and NIC; 0 disables tracing
    #[arg(long, value_name = "RATE", default_value = "0.5", value_parser = each_second, help_heading = "Paths")]
    pub paths_rate: f64,
    /// Maximum number of ICMP answers per second requested from one hop
    #[arg(long, value_name = "RATE", default_value = "5", value_parser = each_second, help_heading = "Paths")]
    pub icmp_rate: f64,
    /// Maximum number of hops of a traced path
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=31), help_heading = "Paths")]
    pub max_hops: u8,
    /// Write an unchanged path again after DURATION
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = within::<0, DAY>, help_heading = "Paths")]
    pub refresh: Duration,
    /// Measure how long SEND, WRITE and READ take between RC queue pairs, every DURATION, where NICs are RDMA devices
    #[arg(long, value_name = "DURATION", value_parser = within::<100, HOUR>, help_heading = "RDMA operations")]
    pub operations: Option<Duration>,
    /// Agents whose NICs answer, each the one of the same position; without them the next NIC of this host does. Only
    /// `rocescope agent` has a controller that introduces them
    #[arg(
        long,
        value_name = "AGENT",
        num_args = 1..,
        requires = "operations",
        value_parser = name,
        help_heading = "RDMA operations"
    )]
    pub operations_peers: Vec<String>,
    /// Probe NICs of other hosts too, whose agents answer: one line for each host, with the addresses of its NICs in the
    /// order of the rails and `-` where one is missing; the same FILE is right on all hosts
    #[arg(long, value_name = "FILE", help_heading = "Other hosts")]
    pub peers: Option<PathBuf>,
    /// NICs of other hosts that a NIC probes
    #[arg(long, value_enum, default_value_t = RailsOfPeers::Same, help_heading = "Other hosts")]
    pub peer_rails: RailsOfPeers,
    /// Number of NICs of other hosts that a NIC probes at a time
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=24), help_heading = "Other hosts")]
    pub peers_at_once: u16,
    /// Number of UDP source ports for each of them; at most 24 for all that a NIC probes at a time
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=24), help_heading = "Other hosts")]
    pub peer_ports: u16,
    /// Interval between two probes of a NIC to other hosts
    #[arg(long, value_name = "DURATION", default_value = "400ms", value_parser = within::<1, HOUR>, help_heading = "Other hosts")]
    pub peer_interval: Duration,
    /// Replace a NIC of another host by the next one after DURATION; all take turns
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = within::<1000, DAY>, help_heading = "Other hosts")]
    pub peer_period: Duration,
    /// Print a status line every DURATION
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = within::<100, HOUR>)]
    pub window: Duration,
    /// Write a Parquet dataset to this directory
    #[arg(long, value_name = "DIR", help_heading = "Dataset")]
    pub out: Option<PathBuf>,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
}

/// How probes are sent and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeBackend {
    /// Frames over packet sockets; works on any Ethernet NIC
    Raw,
    /// UD queue pairs of RDMA NICs, with hardware timestamps; paths are not traced
    Verbs,
}

/// Which NICs of other hosts a NIC probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RailsOfPeers {
    /// Those of its own rail
    Same,
    /// Those of all rails
    All,
}

impl From<&ProbeArguments> for ProbePace {
    fn from(arguments: &ProbeArguments) -> Self {
        Self {
            interval: arguments.interval.into(),
            timeout: arguments.timeout.into(),
            peer_interval: arguments.peer_interval.into(),
            traces_per_second: arguments.paths_rate,
            answers_per_second: arguments.icmp_rate,
            ttl_max: arguments.max_hops,
            refresh: arguments.refresh.into(),
            cpu_bound: arguments.max_cpu,
            dscps: arguments.dscp.clone(),
        }
    }
}

impl From<&ProbeArguments> for ProbeSettings {
    fn from(arguments: &ProbeArguments) -> Self {
        Self {
            interfaces: arguments.interfaces.clone(),
            all: arguments.all,
            observer: arguments.observer.clone(),
            duration: arguments.duration,
            quiet: arguments.quiet,
            backend: match arguments.backend {
                ProbeBackend::Raw => Backend::Raw,
                ProbeBackend::Verbs => Backend::Verbs,
            },
            pace: arguments.into(),
            port: arguments.port,
            source_ports: arguments.source_ports,
            renew: arguments.renew,
            seed: arguments.seed,
            operations: arguments.operations.map(|interval| OperationSettings {
                interval,
                peers: arguments.operations_peers.clone(),
            }),
            peers: arguments.peers.as_ref().map(|file| PeerFile {
                file: file.clone(),
                rails: match arguments.peer_rails {
                    RailsOfPeers::Same => PeerRails::Same,
                    RailsOfPeers::All => PeerRails::All,
                },
                at_once: arguments.peers_at_once,
                ports: arguments.peer_ports,
                period: arguments.peer_period,
            }),
            window: arguments.window,
            out: arguments.out.as_deref().map(|root| arguments.retention.storage(root)),
        }
    }
}
