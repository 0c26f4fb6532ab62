//! The command line.

mod collect;
mod dataset;
mod diagnose;
mod generate;
mod live;
mod measure;
mod probe;
mod recorder;
mod report;
mod top;

pub use collect::{CollectArguments, SendArguments};
pub use dataset::DatasetArguments;
pub use diagnose::{DiagnoseAction, DiagnosisOutput, HostmeshArguments};
pub use generate::{By, GenerateArguments, OntoArguments};
pub use live::{LiveArguments, Mode, Verdict, VlanOffload};
pub use measure::MeasureArguments;
pub use probe::{ProbeArguments, ProbeBackend};
pub use recorder::RecorderArguments;
pub use report::{ReportArguments, ReportOutput, ReportTable};
pub use top::{LookArguments, OnceArguments, OnceOutput, TableName, ThemeName, TopArguments};

use crate::filters::{row_filter, run_filter};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rocescope_engine::anonymize::anonymizer;
use rocescope_model::ConnectionRow;
use rocescope_model::filter::RowFilter;
use rocescope_pipeline::anonymize::AddressMap;
use rocescope_pipeline::filter::RunFilter;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that names the configuration file.
pub const FILE_VARIABLE: &str = "ROCESCOPE_CONFIG";

/// Watches RoCEv2 fabrics from the outside: flows, opcodes, messages, NAKs, congestion.
#[derive(Debug, Parser)]
#[command(name = "rocescope", version, propagate_version = true)]
pub struct Arguments {
    /// Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = FILE_VARIABLE,
        hide_env = true
    )]
    pub config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read a capture file or interfaces: top flows, opcode mix, and a Parquet dataset
    Capture(Box<CaptureArguments>),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArguments),
    /// Take the rows of agents over the network into one dataset, and say what fails
    Collect(Box<CollectArguments>),
    /// Print, check or make a configuration file
    #[command(subcommand)]
    Config(ConfigAction),
    /// Print what each queue pair did: loss, order, latency, congestion
    Connections(Box<ConnectionsArguments>),
    /// Show the whole path at work, without privileges or input
    Demo(DemoArguments),
    /// Find what fails, and where, in what a dataset holds
    #[command(subcommand)]
    Diagnose(DiagnoseAction),
    /// Say what stands in the way of a capture on this machine, and what mends it
    Doctor(DoctorArguments),
    /// Write the frames of a capture file that a filter wants into another
    Extract(ExtractArguments),
    /// Write deterministic RoCEv2 traffic from a scenario, with its truth beside it
    Generate(GenerateArguments),
    /// Write the manual pages
    Man(ManArguments),
    /// Join the datasets of several boxes, window by window
    Merge(MergeArguments),
    /// Probe between the NICs of this host: loss and latency one way, and the paths
    Probe(Box<ProbeArguments>),
    /// Seal what a killed capture left in a dataset, and name what does not read
    Repair(RepairArguments),
    /// Sum a dataset up: for people, for programs, or as one HTML page with charts
    Report(Box<ReportArguments>),
    /// Print the tables of the dataset and their columns
    Schema(SchemaArguments),
    /// Have a card take VLAN tags out again when standard input ends
    #[command(hide = true)]
    RestoreVlanOffload(RestoreVlanOffloadArguments),
    /// Watch flows, opcodes, connections and events on a terminal
    Top(Box<TopArguments>),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people
    #[value(alias = "text")]
    Table,
    /// One JSON object
    Json,
}

/// `rocescope capture`.
#[derive(Clone, Debug, Args)]
pub struct CaptureArguments {
    /// Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "interfaces")]
    pub read: Option<PathBuf>,
    /// Look for so many seconds whether this is the right port, say so, and write nothing
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with_all = ["read", "out", "duration", "keep_frames"],
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub check: Option<u16>,
    /// How the summary is printed
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Keep only packets for which this holds, such as `host 10.0.0.1 and not service cnp`
    #[arg(long, value_name = "EXPR", value_parser = run_filter)]
    pub filter: Option<RunFilter>,
    /// Put other addresses in the place of all, by a key of 64 hexadecimal digits, or @ and a file that
    /// holds them; addresses with a common prefix keep one of the same length
    #[arg(long, value_name = "KEY", value_parser = anonymizer)]
    pub anonymize: Option<Arc<dyn AddressMap>>,
    /// Follow connections too: loss, order and round trips of every queue pair
    #[arg(long)]
    pub connections: bool,
    /// Verify the ICRC of every packet
    #[arg(long)]
    pub verify_icrc: bool,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// What is written
    #[command(flatten)]
    pub dataset: DatasetArguments,
    /// Frames around events
    #[command(flatten)]
    pub recorder: RecorderArguments,
    /// What is measured, and how finely
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// `rocescope completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `rocescope man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Directory for the pages, one a command; it is made where it is missing
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}

/// `rocescope config`.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigAction {
    /// Print every setting as it stands, and where it comes from
    Print,
    /// Read the configuration file and say whether all is right with it
    Check,
    /// Print a configuration file with every setting, its meaning and its default
    Template,
}

/// `rocescope connections`.
#[derive(Debug, Args)]
pub struct ConnectionsArguments {
    /// Dataset to read
    #[arg(
        value_name = "DATASET",
        conflicts_with_all = ["read", "interfaces"],
        required_unless_present_any = ["read", "interfaces"]
    )]
    pub dataset: Option<PathBuf>,
    /// Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "interfaces")]
    pub read: Option<PathBuf>,
    /// Print only connections of which a direction is so, such as `lost_gaps > 0 or qp 17`
    #[arg(long, value_name = "EXPR", value_parser = row_filter::<ConnectionRow>)]
    pub filter: Option<RowFilter>,
    /// How connections are printed
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// What is measured, and how finely; not of a dataset
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// `rocescope extract`.
#[derive(Debug, Args)]
pub struct ExtractArguments {
    /// Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input
    #[arg(short, long, value_name = "FILE")]
    pub read: PathBuf,
    /// pcapng file to write; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub write: PathBuf,
    /// Which packets, such as `qp 17 and opcode *ACKNOWLEDGE*`
    #[arg(long, value_name = "EXPR", value_parser = run_filter)]
    pub filter: RunFilter,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// `rocescope demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Where the dataset goes; what an earlier demo wrote there is replaced
    #[arg(long, value_name = "DIR", default_value = "rocescope-demo")]
    pub out: PathBuf,
}

/// `rocescope doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Interface to look at; all but the loopback unless given
    #[arg(short, long = "interface", value_name = "IFACE", num_args = 1..)]
    pub interfaces: Vec<String>,
    /// Attach a program that passes every frame, and detach it at once
    #[arg(long = "try")]
    pub attempt: bool,
    /// How findings are printed
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `rocescope merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// The datasets, captured with equal windows, thresholds and sketches. Each is taken to hold
    /// other packets: one that passed two boxes counts twice
    #[arg(value_name = "DATASET", required = true)]
    pub datasets: Vec<PathBuf>,
    /// Where the merged dataset goes
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name of the capture point in the merged rows and file names
    #[arg(long, value_name = "NAME", default_value = "merged")]
    pub observer: String,
}

/// `rocescope repair`.
#[derive(Debug, Args)]
pub struct RepairArguments {
    /// The dataset
    #[arg(value_name = "DIR")]
    pub dataset: PathBuf,
}

/// `rocescope restore-vlan-offload`, which a capture starts.
#[derive(Debug, Args)]
pub struct RestoreVlanOffloadArguments {
    /// Index of the interface
    #[arg(value_name = "INDEX")]
    pub interface: u32,
}

/// `rocescope schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = SchemaOutput::Table)]
    pub output: SchemaOutput,
}

/// How the schema is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOutput {
    /// For people
    Table,
    /// For programs
    Json,
    /// The page `docs/formats.md`
    Markdown,
}
