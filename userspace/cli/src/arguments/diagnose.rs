//! `rocescope diagnose`.

use super::{
    ALL, DiagnoseCollectiveArguments, DiagnoseHostpingArguments, DiagnoseHostsArguments, Format, HostsArguments,
    Output, SpanArguments, formats,
};
use crate::units::{DAY, name, within};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope diagnose`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DiagnoseArguments {
    /// Dataset, or capture files to read as one: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of them; `-` for
    /// standard input
    #[arg(value_name = "DATASET|FILE")]
    pub inputs: Vec<PathBuf>,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Format of the incidents; rows of the table `incidents` in `jsonl`, `csv` and `markdown`
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ALL), default_value = "table")]
    pub output: Format,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Topology: nodes of the mesh with their addresses, and which ports of switches are one cable; default: each address is
    /// a node, and the other ends of ports are not known
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Rank the places of the incidents that the dataset keeps in the table `incidents`, with the notes about them
    #[arg(long, value_enum, conflicts_with_all = ["write", "topology"])]
    pub by: Option<Grouping>,
    /// Write the table `incidents` to the dataset
    #[arg(long)]
    pub write: bool,
    /// Name of the analyzer in the rows it writes
    #[arg(long, value_name = "NAME", default_value = "incidents")]
    pub observer: String,
    /// One analysis alone.
    #[command(subcommand)]
    pub action: Option<DiagnoseAction>,
}

/// What incidents are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Grouping {
    /// NICs, links, switches and hosts
    Place,
}

/// One analysis, with all that it found.
#[derive(Debug, Subcommand)]
pub enum DiagnoseAction {
    /// Locate the failing NIC, link or switch from probes between hosts and their paths
    #[command(name = "mesh", alias = "hostmesh")]
    Hostmesh(HostmeshArguments),
    /// Say whose fault it is, application, host, NIC, link or network, from the counters of hosts and captured traffic
    Hosts(DiagnoseHostsArguments),
    /// Locate the abnormal link inside each host from its last loopback tests
    Hostping(DiagnoseHostpingArguments),
    /// Find which step, flow and port made a collective slow
    Collective(DiagnoseCollectiveArguments),
}

/// `rocescope diagnose mesh`.
#[derive(Clone, Debug, Args)]
pub struct HostmeshArguments {
    /// Dataset with the tables `probes` and `paths`, as `rocescope probe` writes them
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Format of the diagnosis
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Nodes and their addresses (TOML); default: each address is a node
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Length of a window
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = within::<1_000, DAY>)]
    pub window: Duration,
    /// Treat a NIC as anomalous for DURATION after its anomalous window
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = within::<1_000, DAY>)]
    pub sticky: Duration,
    /// Ignore switch problems with at most COUNT drops in a window
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    pub most_ignored: u64,
    /// Write the tables `sla`, `verdicts` and `links` to the dataset
    #[arg(long)]
    pub write: bool,
    /// Name of the analyzer in the rows it writes
    #[arg(long, value_name = "NAME", default_value = "diagnose")]
    pub observer: String,
}

/// What `rocescope incidents` does.
#[derive(Debug, Subcommand)]
pub enum IncidentsAction {
    /// Note what was found or done about an incident: `diagnose` shows it there and at later incidents of the place
    Note(NoteArguments),
}

/// `rocescope incidents note`.
#[derive(Debug, Args)]
pub struct NoteArguments {
    /// The incident, as `diagnose` names it in brackets
    #[arg(value_name = "ID")]
    pub id: String,
    /// The note
    #[arg(value_name = "NOTE")]
    pub note: String,
    /// The dataset that keeps the incident
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Name of who notes it
    #[arg(long, value_name = "NAME", default_value = "operator", value_parser = name)]
    pub observer: String,
}
