//! `rocescope diagnose hosts`.

use super::{HostsArguments, Output, SpanArguments};
use crate::units::within;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope diagnose hosts`.
#[derive(Clone, Debug, Args)]
pub struct DiagnoseHostsArguments {
    /// Dataset with the table `counters` of the hosts, and the tables of a capture
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Format of the diagnosis
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Length of a window; counters should be read at least as often
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = within::<1_000, 600_000>)]
    pub window: Duration,
    /// Write the table `host_verdicts` to the dataset
    #[arg(long)]
    pub write: bool,
    /// Name of the analyzer in the rows it writes
    #[arg(long, value_name = "NAME", default_value = "diagnose-hosts")]
    pub observer: String,
}
