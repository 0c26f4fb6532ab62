//! `rocescope diagnose`.

use crate::units::positive_duration;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What is diagnosed.
#[derive(Debug, Subcommand)]
pub enum DiagnoseAction {
    /// Find the NIC, link or switch that fails, from probes between the NICs of hosts and their paths
    Hostmesh(HostmeshArguments),
}

/// `rocescope diagnose hostmesh`.
#[derive(Clone, Debug, Args)]
pub struct HostmeshArguments {
    /// Dataset with the tables `probes` and `paths`, as `rocescope probe` writes them
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// How the diagnosis is printed
    #[arg(short, long, value_enum, default_value_t = DiagnosisOutput::Text)]
    pub output: DiagnosisOutput,
    /// Nodes and their addresses (TOML); without it every address is a node of its own
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Length of a window
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = positive_duration)]
    pub window: Duration,
    /// How long an anomalous NIC stays so after its window
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = positive_duration)]
    pub sticky: Duration,
    /// Divide both by this: for a mesh whose every time was divided so
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub scale: u16,
    /// Drops in a window, as switch problems, that nobody votes on
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub most_ignored: u64,
    /// Write the tables `sla`, `verdicts` and `links` into the dataset
    #[arg(long)]
    pub write: bool,
    /// Name of the analyzer in the rows that it writes
    #[arg(long, value_name = "NAME", default_value = "diagnose")]
    pub observer: String,
}

/// How a diagnosis is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnosisOutput {
    /// For people: a line a problem
    Text,
    /// One JSON object: problems, and the rows of `verdicts` and `sla`
    Json,
}
