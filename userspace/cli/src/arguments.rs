//! The command line.

mod report;
mod top;

pub use report::{ReportArguments, ReportOutput, ReportTable};
pub use top::{LookArguments, OnceArguments, OnceOutput, TableName, ThemeName, TopArguments};

use crate::anonymize::anonymizer;
use crate::filters::{row_filter, run_filter};
use crate::units::{bits_per_second, bytes, duration, name, positive_duration, share};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rocescope_model::ConnectionRow;
use rocescope_model::filter::RowFilter;
use rocescope_pipeline::anonymize::AddressMap;
use rocescope_pipeline::filter::RunFilter;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Watches RoCEv2 fabrics from the outside: flows, opcodes, messages, NAKs, congestion.
#[derive(Debug, Parser)]
#[command(name = "rocescope", version, propagate_version = true)]
pub struct Arguments {
    /// Configuration file (TOML); without it `/etc/rocescope/rocescope.toml`, where there is one
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "ROCESCOPE_CONFIG",
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
    /// Print, check or make a configuration file
    #[command(subcommand)]
    Config(ConfigAction),
    /// Print what each queue pair did: loss, order, latency, congestion
    Connections(Box<ConnectionsArguments>),
    /// Show the whole path at work, without privileges or input
    Demo(DemoArguments),
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
        conflicts_with_all = ["read", "out", "duration"],
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
    /// What is measured, and how finely
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// The dataset that a capture writes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub struct DatasetArguments {
    /// Write a Parquet dataset into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A segment is sealed when its first rows are this old
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = positive_duration)]
    pub segment_age: Duration,
    /// A segment is sealed when it has this many bytes before compression
    #[arg(long, value_name = "BYTES", default_value = "64Mi", value_parser = bytes)]
    pub segment_bytes: u64,
    /// Delete sealed segments whose hour ended longer ago than this
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when all together have more bytes than this
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub keep_bytes: Option<u64>,
    /// Leave bitmaps and Count-Min tables out of the dataset
    #[arg(long)]
    pub no_sketches: bool,
}

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

/// What is measured, and how finely.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct MeasureArguments {
    /// Name of this capture point, in every row and file name
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = name)]
    pub observer: String,
    /// Length of a window of event time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub window: Duration,
    /// How long a window waits for frames that come out of order
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub lateness: Duration,
    /// Top flows in the summary; connections and events printed at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Top flows of each window in the dataset
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub flow_rows: usize,
    /// Flows counted exactly, a window and in all; sketches take over beyond it
    #[arg(long, value_name = "N", default_value_t = 131_072)]
    pub exact_flows: usize,
    /// Rate from which a flow is an elephant, in bits a second
    #[arg(long, value_name = "RATE", default_value = "1G", value_parser = bits_per_second)]
    pub elephant: f64,
    /// Change between windows that is jitter, as a share of the rate before
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = share)]
    pub jitter_relative: f64,
    /// Change between windows that is jitter, in bits a second
    #[arg(long, value_name = "RATE", default_value = "500M", value_parser = bits_per_second)]
    pub jitter_absolute: f64,
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
        conflicts_with = "read",
        required_unless_present = "read"
    )]
    pub dataset: Option<PathBuf>,
    /// Capture file to read: pcap or pcapng, plain, gzip or zstd; `-` for standard input
    #[arg(short, long, value_name = "FILE")]
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
    /// What is measured, and how finely; of a file only
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
