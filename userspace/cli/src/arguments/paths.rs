//! `rocescope paths` and `rocescope topology`.

use super::{GnmiArguments, HostsArguments, Output, PrometheusArguments, RetentionArguments, SpanArguments};
use crate::units::{HOUR, positive_duration, within};
use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to do with a topology.
#[derive(Debug, Subcommand)]
pub enum TopologyAction {
    /// Check whether a topology contradicts itself
    Check(TopologyArguments),
    /// Print the nodes, tiers and links of a topology
    Show(TopologyArguments),
    /// Convert a topology to another format
    Convert(ConvertArguments),
}

/// Which links of a topology count.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Leave out the links at ports that fit PATTERN, `PORT` or `NODE:PORT` with `*` for any characters, and the nodes
    /// that have no others
    #[arg(long, value_name = "PATTERN")]
    pub leave_out: Vec<String>,
    /// Keep the links of LLDP neighbors at management ports, such as `mgmt0`, or `eth0` of a switch
    #[arg(long)]
    pub management: bool,
}

/// `rocescope topology check` and `show`.
#[derive(Debug, Args)]
pub struct TopologyArguments {
    /// Topology: TOML, containerlab YAML, Graphviz DOT as PTM uses it, a file or a directory of NODE.json from `lldpcli
    /// -f json show neighbors details`, or a dataset with the table `paths`
    #[arg(value_name = "FILE")]
    pub topology: PathBuf,
    /// The links.
    #[command(flatten)]
    pub links: LinkArguments,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `rocescope topology convert`.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// Topology, in any format that `topology show` reads
    #[arg(value_name = "FILE")]
    pub topology: PathBuf,
    /// The links.
    #[command(flatten)]
    pub links: LinkArguments,
    /// Format to write
    #[arg(long, value_enum, default_value_t = TopologyFormat::Toml)]
    pub to: TopologyFormat,
}

/// The format of a topology to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopologyFormat {
    /// rocescope's own
    Toml,
    /// Graphviz DOT, as PTM uses it
    Dot,
}

/// What to do with the paths of flows.
#[derive(Debug, Subcommand)]
pub enum PathsAction {
    /// List the flows of a workload: from captures, datasets, sockets or queue pairs
    Flows(FlowsArguments),
    /// Receive sFlow v5 datagrams of switches: RoCEv2 flows in their samples, counters of ports, and dropped packets
    Sflow(Box<SflowArguments>),
    /// Read counters of ports and queues of switches from a Prometheus server that scrapes their exporters
    Prometheus(Box<PrometheusArguments>),
    /// Read counters of ports and queues of switches from their gNMI servers, which send them at an interval
    Gnmi(Box<GnmiArguments>),
    /// Find the paths of flows: ask each switch for the egress port, hop by hop, over SSH
    Discover(Box<DiscoverArguments>),
    /// Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)
    Fim(FimArguments),
    /// Find source ports that would make the layers even, by asking the switches about other ports
    Advise(Box<AdviseArguments>),
    /// Compare the loads of links and the paths of two runs
    Compare(ComparePathsArguments),
}

/// `rocescope paths fim`.
#[derive(Debug, Args)]
pub struct FimArguments {
    /// Topology, in any format that `topology show` reads
    #[arg(long, value_name = "FILE")]
    pub topology: PathBuf,
    /// Paths: JSON, `[{"flow": …, "hops": [["leaf1", "eth5"], …]}, …]`, or a dataset with the table `flow_paths`
    #[arg(long, value_name = "FILE")]
    pub paths: PathBuf,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Compute the metric for each window of the dataset: of the flows that `flows` has in it
    #[arg(long)]
    pub windows: bool,
    /// Links to print, those furthest from the ideal first
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub top: usize,
    /// Write the loads to the table `link_loads` of this dataset
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Name of the analysis in the rows of `link_loads`
    #[arg(long, value_name = "NAME", default_value = "paths")]
    pub observer: String,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}

/// `rocescope paths compare`.
#[derive(Debug, Args)]
pub struct ComparePathsArguments {
    /// Paths of run A: JSON, or a dataset with the table `flow_paths`
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Paths of run B
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Run of A, if it is a dataset: 1 is the newest, 2 the one before
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub run_a: Option<u16>,
    /// Run of B; A and B may be the same dataset
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub run_b: Option<u16>,
    /// Topology, in any format that `topology show` reads
    #[arg(long, value_name = "FILE")]
    pub topology: PathBuf,
    /// Links and flows to print
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub top: usize,
    /// Format of the output
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}

/// Where the flows of a workload come from; several sources add up.
#[derive(Debug, Args)]
pub struct WorkloadArguments {
    /// List of flows as JSON: `[{"src": "10.0.0.1", "dst": "10.0.1.1", "src_port": 49152}, …]`, or what `paths flows -o
    /// json` prints
    #[arg(long, value_name = "FILE")]
    pub flows: Vec<PathBuf>,
    /// Dataset: the flows of its table `flows`
    #[arg(long, value_name = "DATASET")]
    pub dataset: Vec<PathBuf>,
    /// Capture files: the flows of their packets
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    pub read: Vec<PathBuf>,
    /// Sockets of a server: what `ss -tun` prints on it
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub ss: Vec<PathBuf>,
    /// Directory of SERVER.json with the queue pairs of each server, as docs/paths.md describes
    #[arg(long, value_name = "DIR")]
    pub rdma: Option<PathBuf>,
    /// Dataset: the queue pairs that are connected at the end of the time, as agents report them in its table `queue_pairs`
    #[arg(long, value_name = "DATASET")]
    pub from_agents: Vec<PathBuf>,
    /// Keep only flows of the dataset and the capture files that match EXPR, such as `net 10.1.0.0/16`
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// Keep only the flows of these server pairs: lines of `SRC DST [FLOWS]`, hosts of the topology or addresses
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// The time of the datasets.
    #[command(flatten)]
    pub span: SpanArguments,
}

/// `rocescope paths flows`.
#[derive(Debug, Args)]
pub struct FlowsArguments {
    /// The workload.
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Topology: its hosts may be named in `--pairs`
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Format of the list
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}

/// `rocescope paths sflow`.
#[derive(Debug, Args)]
pub struct SflowArguments {
    /// Address and UDP port to receive datagrams at
    #[arg(short, long, value_name = "ADDR:PORT", default_value = "0.0.0.0:6343")]
    pub listen: SocketAddr,
    /// Stop after DURATION; default: at Ctrl-C
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// Write the tables `switch_ports` and `switch_drops` to this dataset
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write rows, and join reports of drops, for this long
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "10s")]
    pub interval: Duration,
    /// Topology: switches have its names, by their addresses and `management`
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Which PFC frames agents count as requests: the MIB means those that the port sends, host-sflow counts received ones
    #[arg(long, value_enum, default_value_t = PfcDirection::Sent)]
    pub pfc_requests: PfcDirection,
    /// Name of the receiver in the rows
    #[arg(long, value_name = "NAME", default_value = "sflow")]
    pub observer: String,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
    /// Format of the list
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}

/// What agents of sFlow count as requests of PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PfcDirection {
    /// Frames that the port sends
    Sent,
    /// Frames that it receives
    Received,
}

/// Which devices are asked, and how.
#[derive(Debug, Args)]
pub struct AskArguments {
    /// Topology, in any format that `topology show` reads
    #[arg(long, value_name = "FILE")]
    pub topology: PathBuf,
    /// Driver of switches for which the topology has none: linux, eos, cumulus, sonic, nxos, junos, or a TOML file
    #[arg(long, value_name = "NAME")]
    pub driver: Option<String>,
    /// Driver of hosts for which the topology has none; default: hosts with one link are not asked
    #[arg(long, value_name = "NAME")]
    pub host_driver: Option<String>,
    /// Take the answers of devices that do not state what they hash, as if that were the 5-tuple; default: their flows
    /// have the outcome `hash_fields_unknown`
    #[arg(long = "assume-5-tuple")]
    pub assume_5_tuple: bool,
    /// Questions at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
    /// Sessions with a device at the same time; each runs one command at a time
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub sessions: u16,
    /// Wait for the answer to a command for this long
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = within::<10, HOUR>)]
    pub time_limit: Duration,
    /// Wait for a device to connect and log in for this long
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = within::<10, HOUR>)]
    pub connect_limit: Duration,
    /// User on the devices; default: as the SSH client is configured
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Private key; default: as the SSH client is configured, and its agent
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Host keys of the devices; default: as the SSH client is configured
    #[arg(long, value_name = "FILE")]
    pub known_hosts: Option<PathBuf>,
    /// File whose first line is the password
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Configuration of the SSH client
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,
}

/// `rocescope paths discover`.
#[derive(Debug, Args)]
pub struct DiscoverArguments {
    /// The devices.
    #[command(flatten)]
    pub ask: AskArguments,
    /// The workload.
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Write the paths and the loads of links to the tables `flow_paths` and `link_loads` of this dataset
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Name of the run in these rows
    #[arg(long, value_name = "NAME", default_value = "discover")]
    pub observer: String,
    /// Format of the result; `paths fim --paths` reads the JSON
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}

/// `rocescope paths advise`.
#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// The devices.
    #[command(flatten)]
    pub ask: AskArguments,
    /// The workload.
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// Source ports to try for each flow, with the one it has
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = clap::value_parser!(u16).range(2..=256))]
    pub candidates: u16,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}
