//! `rocescope paths` and `rocescope topology`.

use super::{HostsArguments, Output, SpanArguments};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

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

/// `rocescope topology check` and `show`.
#[derive(Debug, Args)]
pub struct TopologyArguments {
    /// Topology: TOML, containerlab YAML, Graphviz DOT as PTM uses it, a file or a directory of NODE.json from `lldpcli
    /// -f json show neighbors details`, or a dataset with the table `paths`
    #[arg(value_name = "FILE")]
    pub topology: PathBuf,
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
    /// Compute how unevenly flows lie on the links of each layer (Flow Imbalance Metric)
    Fim(FimArguments),
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
