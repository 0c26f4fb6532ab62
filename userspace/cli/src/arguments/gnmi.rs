//! `rocescope paths gnmi`.

use super::{Output, RetentionArguments};
use crate::units::{HOUR, positive_duration, within};
use clap::Args;
use clap::builder::PossibleValuesParser;
use rocescope_paths::gnmi::{Address, PRESETS};
use std::path::PathBuf;
use std::time::Duration;

/// Which switches are asked for what, and where the rows go.
#[derive(Debug, Args)]
pub struct GnmiArguments {
    /// Switches, `[NAME=]HOST[:PORT]`: the port if it is not 9339, and the name in the rows if it is not the host
    #[arg(value_name = "SWITCH", required_unless_present = "switches")]
    pub addresses: Vec<Address>,
    /// Switches too, one a line
    #[arg(long, value_name = "FILE")]
    pub switches: Option<PathBuf>,
    /// Write the table `switch_ports` to this dataset
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Subscribe to the paths of this model; without a preset or mapping, to those of `openconfig`
    #[arg(long = "preset", value_name = "NAME", value_parser = PossibleValuesParser::new(PRESETS.map(|preset| preset.0)))]
    pub presets: Vec<String>,
    /// Subscribe to the paths that a TOML file maps to columns
    #[arg(long = "mapping", value_name = "FILE")]
    pub mappings: Vec<PathBuf>,
    /// Let switches send all values this often
    #[arg(long, value_name = "DURATION", value_parser = within::<100, HOUR>, default_value = "10s")]
    pub interval: Duration,
    /// Ask for the values once, and end
    #[arg(long, conflicts_with_all = ["interval", "duration"])]
    pub once: bool,
    /// Time for a connection; a switch that sends nothing for this long and three intervals is connected again
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "10s")]
    pub timeout: Duration,
    /// Stop after DURATION; default: at Ctrl-C
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Name to log in with
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub user: Option<String>,
    /// File with the password
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// File with the authorities that sign the certificates of the switches; default: those of the system
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Connect without TLS: who is on the way can read the password and change what switches send
    #[arg(long)]
    pub insecure: bool,
    /// Topology: switches that are asked by address have its names
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Name of the reader in the rows
    #[arg(long, value_name = "NAME", default_value = "gnmi")]
    pub observer: String,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
    /// Format of the summary
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}
