//! The command line.

mod agent;
mod collective;
mod collector;
mod compact;
mod compare;
mod config;
mod counters;
mod dataset;
mod dataset_action;
mod diagnose;
mod diagnose_hosts;
mod examples;
mod format;
mod generate;
mod gnmi;
mod hostping;
mod hosts;
mod live;
mod measure;
mod page;
mod paths;
mod probe;
mod prometheus;
mod queue_pairs;
mod recorder;
mod report;
mod retention;
mod rollup;
mod run;
mod send;
mod span;
mod subscription;
mod top;
mod words;

pub use agent::{AgentArguments, Parts};
pub use collective::{
    CollectiveAction, CollectiveFormat, CollectiveImportArguments, CollectiveOutput, CollectivePartArguments,
    DiagnoseCollectiveArguments, FollowFormat,
};
pub use collector::{
    CandidateArguments, CertificatesArguments, CollectorAction, CollectorRunArguments, OperatorArguments,
    RollbackArguments, StatusArguments,
};
pub use compact::CompactArguments;
pub use compare::CompareArguments;
pub use config::{CompletionsArguments, ConfigAction, ManArguments};
pub use counters::CountersArguments;
pub use dataset::DatasetArguments;
pub use dataset_action::{
    DatasetAction, MergeArguments, ProgramArguments, RepairArguments, SchemaArguments, SchemaOutput, VerifyArguments,
};
pub use diagnose::{DiagnoseAction, DiagnoseArguments, Grouping, HostmeshArguments, IncidentsAction, NoteArguments};
pub use diagnose_hosts::DiagnoseHostsArguments;
pub use examples::{command, manual};
pub use format::{ALL, ENDLESS, Format, formats};
pub use generate::{GenerateArguments, OntoArguments, SendMethod};
pub use gnmi::GnmiArguments;
pub use hostping::{
    DiagnoseHostpingArguments, HostTopologyArguments, HostpingAction, HostpingBaselineArguments,
    HostpingDiagnoseArguments, HostpingPartArguments, HostpingRunArguments, HostpingTopologyArguments, RuleArguments,
};
pub use hosts::HostsArguments;
pub use live::{Direction, LiveArguments, Mode, Verdict, VlanOffload};
pub use measure::{FlowKey, MeasureArguments};
pub use page::{PageAccessArguments, PageArguments, ServeArguments};
pub use paths::{
    AdviseArguments, AskArguments, ComparePathsArguments, ConvertArguments, DiscoverArguments, FimArguments,
    FlowsArguments, LinkArguments, PathsAction, PfcDirection, SflowArguments, TopologyAction, TopologyArguments,
    TopologyFormat, WorkloadArguments,
};
pub use probe::{ProbeArguments, ProbeBackend, RailsOfPeers};
pub use prometheus::PrometheusArguments;
pub use queue_pairs::{KernelEvents, QueuePairsPartArguments};
pub use recorder::RecorderArguments;
pub use report::{By, ReportArguments, ReportTable};
pub use retention::RetentionArguments;
pub use rollup::RollupArguments;
pub use run::RunArguments;
pub use send::SendArguments;
pub use span::{SPAN, SpanArguments};
pub use subscription::SubscriptionArguments;
pub use top::{AppearanceArguments, OnceArguments, TableName, ThemeName, TopArguments};
pub(crate) use words::settle;

use crate::filters::{address_filter, connection_filter, run_filter};
use crate::units::{DAY, file_bytes, positive_duration, within};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rocescope_analysis::incidents::OnIncident;
use rocescope_engine::anonymize::anonymizer;
use rocescope_model::filter::RowFilter;
use rocescope_pipeline::anonymize::AddressMap;
use rocescope_pipeline::filter::RunFilter;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The variable that names the configuration file.
pub const FILE_VARIABLE: &str = "ROCESCOPE_CONFIG";

/// Monitor RoCEv2 fabrics: flows, losses and congestion on the wire, probes between NICs, counters of hosts.
#[derive(Debug, Parser)]
#[command(name = "rocescope", version, propagate_version = true)]
pub struct Arguments {
    /// Configuration file (TOML); default: `/etc/rocescope/rocescope.toml` if it exists
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = FILE_VARIABLE,
        hide_env = true
    )]
    pub config: Option<PathBuf>,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run what the configuration of this host asks for in one process
    Agent(Box<AgentArguments>),
    /// Capture interfaces or a file into a Parquet dataset
    Capture(Box<CaptureArguments>),
    /// Collect and diagnose the rows of agents; show and change their configuration
    #[command(subcommand)]
    Collector(CollectorAction),
    /// Compare two datasets or two times, the largest change first
    Compare(CompareArguments),
    /// Read steps of collectives and telemetry of switches
    #[command(subcommand)]
    Collective(CollectiveAction),
    /// Print, check or generate a configuration file
    #[command(subcommand)]
    Config(ConfigAction),
    /// Print loss, reordering and latency of each queue pair
    Connections(Box<ConnectionsArguments>),
    /// Read the counters of RDMA devices and network interfaces
    Counters(Box<CountersArguments>),
    /// Describe, query, merge, check, repair, compact, roll up or ship datasets
    #[command(subcommand)]
    Dataset(DatasetAction),
    /// Run every system on bundled data, without privileges
    Demo(DemoArguments),
    /// Find what is wrong, where, since when, who suffers, what to do
    Diagnose(Box<DiagnoseArguments>),
    /// Check whether this machine can capture, and how to repair it
    Doctor(DoctorArguments),
    /// Copy the frames that match a filter to another file
    Extract(ExtractArguments),
    /// Generate RoCEv2 traffic from a scenario, with its truth
    Generate(GenerateArguments),
    /// Locate the bottleneck inside a host from loopback tests
    #[command(subcommand)]
    Hostping(HostpingAction),
    /// Note what was found or done about an incident
    #[command(subcommand)]
    Incidents(IncidentsAction),
    /// Find the links that flows cross, and how unevenly
    #[command(subcommand)]
    Paths(PathsAction),
    /// Probe between NICs: one-way loss and latency, and paths
    Probe(Box<ProbeArguments>),
    /// Summarize a dataset as text, JSON, CSV or one HTML page
    Report(Box<ReportArguments>),
    /// Restore the VLAN offload of a NIC when standard input ends
    #[command(hide = true)]
    RestoreVlanOffload(RestoreVlanOffloadArguments),
    /// Run a job with what it needs to be understood, and show what was wrong meanwhile
    Run(RunArguments),
    /// Show a dataset as a page in the browser, kept up to date
    Serve(ServeArguments),
    /// Watch flows, connections, events and incidents in the terminal
    Top(Box<TopArguments>),
    /// Check, print or convert the topology of a fabric
    #[command(subcommand)]
    Topology(TopologyAction),
}

/// The format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text tables
    #[value(alias = "text")]
    Table,
    /// One JSON object
    Json,
}

/// `rocescope capture`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("interfaces", |option| option.num_args(1)), mut_arg("page", |page| page.conflicts_with_all(["read", "check"])))]
pub struct CaptureArguments {
    /// Capture files to read as one, in the order of time: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of
    /// them; `-` for standard input
    #[arg(short, long, value_name = "FILE", num_args = 1, conflicts_with = "interfaces")]
    pub read: Vec<PathBuf>,
    /// Count only packets that match this filter, as `--filter` does: `host 10.0.0.1 and not service cnp`; more files
    /// or interfaces may precede it
    #[arg(value_name = "FILTER")]
    pub words: Vec<String>,
    /// Stop after COUNT frames that match the filter; live, this uses a packet socket
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Write the frames that match the filter to this pcapng file; `-` for standard output; live, this uses a packet
    /// socket
    #[arg(short, long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Begin another file before one has more than SIZE; names of files then end in a number and the time of the first frame
    #[arg(short = 'C', long, value_name = "SIZE", value_parser = file_bytes, requires = "write")]
    pub write_bytes: Option<u64>,
    /// Begin another file for frames that are DURATION later than the first of a file
    #[arg(short = 'G', long, value_name = "DURATION", value_parser = within::<1_000, DAY>, requires = "write")]
    pub write_age: Option<Duration>,
    /// Keep the newest COUNT of the files of this run, and delete older ones
    #[arg(short = 'W', long, value_name = "COUNT", requires = "write")]
    pub write_files: Option<NonZeroUsize>,
    /// List the interfaces: state, speed, driver, XDP mode and RDMA device
    #[arg(short = 'D', long, conflicts_with_all = ["read", "interfaces"])]
    pub list_interfaces: bool,
    /// Observe the port for SECONDS and judge it; writes no dataset
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with_all = ["read", "out", "duration", "keep_frames", "count", "write"],
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub check: Option<u16>,
    /// Format: `table` and `json` are the summary, `jsonl` a line for each window as it ends and one for the summary, `csv`
    /// and `markdown` the top flows
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ALL), default_value = "table")]
    pub output: Format,
    /// Count only packets that match EXPR, such as `host 10.0.0.1 and not service cnp`
    #[arg(long, value_name = "EXPR", value_parser = run_filter)]
    pub filter: Option<RunFilter>,
    /// Anonymize IP addresses, preserving prefixes; KEY is 64 hexadecimal digits, or @ and the path of a file
    /// with them
    #[arg(long, value_name = "KEY", value_parser = anonymizer)]
    pub anonymize: Option<Arc<dyn AddressMap>>,
    /// Do not follow connections: no loss, reordering and round trips of queue pairs
    #[arg(long, conflicts_with = "collectives")]
    pub no_connections: bool,
    /// Write the steps of collectives to the table `steps`, with how long each waited for its receiver and its sender
    #[arg(long)]
    pub collectives: bool,
    /// Verify the ICRC of every packet
    #[arg(long)]
    pub verify_icrc: bool,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// Print a line with rates, flows and losses to standard error every DURATION while a live capture runs; default:
    /// 10 s on a terminal, otherwise no line
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with = "read")]
    pub status_interval: Option<Duration>,
    /// When an incident opens, changes or closes: run COMMAND in a shell, with the change as one line of JSON on its
    /// standard input; or post it to URL (`http://`, `https://`), or to an Alertmanager (`alertmanager+http://HOST:9093`). It
    /// never delays the capture
    #[arg(long, value_name = "COMMAND|URL")]
    pub on_incident: Option<OnIncident>,
    /// Hide the progress bar, the status line and the lines of incidents
    #[arg(short, long)]
    pub quiet: bool,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// The dataset.
    #[command(flatten)]
    pub dataset: DatasetArguments,
    /// The flight recorder.
    #[command(flatten)]
    pub recorder: RecorderArguments,
    /// The measurement.
    #[command(flatten)]
    pub measure: MeasureArguments,
    /// The controller.
    #[command(flatten)]
    pub subscription: SubscriptionArguments,
    /// The page.
    #[command(flatten)]
    pub page: PageArguments,
}

/// `rocescope connections`.
#[derive(Debug, Args)]
#[command(mut_arg("interfaces", |option| option.conflicts_with(SPAN)))]
pub struct ConnectionsArguments {
    /// Dataset, or capture files to read as one: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of them; `-` for
    /// standard input
    #[arg(value_name = "DATASET|FILE", conflicts_with_all = ["read", "interfaces"])]
    pub inputs: Vec<PathBuf>,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Capture files to read as one, in the order of time, as without `-r`
    #[arg(short, long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["interfaces", SPAN])]
    pub read: Vec<PathBuf>,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Print only connections with a direction that matches EXPR, such as `unfilled_gaps > 0 or qp 17`; of a dataset with
    /// queue pairs of agents also `src_job_id = 4711`
    #[arg(long, value_name = "EXPR", value_parser = connection_filter)]
    pub filter: Option<RowFilter>,
    /// Format; of the connections alone in `jsonl`, `csv` and `markdown`, one row for each direction
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ALL), default_value = "table")]
    pub output: Format,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// Hide the progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// The measurement; ignored for a dataset.
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// `rocescope extract`.
#[derive(Debug, Args)]
pub struct ExtractArguments {
    /// Capture files to read as one, in the order of time: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of
    /// them; `-` for standard input
    #[arg(short, long, value_name = "FILE", num_args = 1, required = true)]
    pub read: Vec<PathBuf>,
    /// Copy only packets that match this filter, as `--filter` does; more files may precede it
    #[arg(value_name = "FILTER")]
    pub words: Vec<String>,
    /// pcapng file to write; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub write: PathBuf,
    /// Copy only packets that match EXPR, such as `qp 17 and opcode *ACKNOWLEDGE*`
    #[arg(long, value_name = "EXPR", value_parser = address_filter)]
    pub filter: Option<RunFilter>,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// Hide the progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// `rocescope demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Directory of the dataset; replaces the dataset of an earlier demo
    #[arg(long, value_name = "DIR", default_value = "rocescope-demo")]
    pub out: PathBuf,
}

/// `rocescope doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Interface to check; default: all except the loopback
    #[arg(short, long = "interface", value_name = "IFACE", num_args = 1..)]
    pub interfaces: Vec<String>,
    /// Attach an XDP program that passes every frame, and programs that report queue pairs, and detach them immediately
    #[arg(long = "try")]
    pub attempt: bool,
    /// Format of the findings
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `rocescope restore-vlan-offload`, started by a capture.
#[derive(Debug, Args)]
pub struct RestoreVlanOffloadArguments {
    /// Index of the interface
    #[arg(value_name = "INDEX")]
    pub interface: u32,
}
