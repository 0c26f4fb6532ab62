//! The arguments of `rocescope counters`.

use super::{ENDLESS, Format, RetentionArguments, formats};
use crate::units::{DAY, HOUR, name, positive_duration, within};
use clap::Args;
use rocescope_agent::counters::Pace;
use rocescope_host::owner::UserKey;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope counters`.
#[derive(Clone, Debug, Args)]
pub struct CountersArguments {
    /// Read once and print every value
    #[arg(long)]
    pub once: bool,
    /// Print the queue pairs of every device, and whose each is: process, user, unit, container, pod, job, rank; with `--out`, write
    /// those that are new, changed or gone at every read
    #[arg(long, conflicts_with_all = ["once", "metric"])]
    pub queue_pairs: bool,
    /// Do not read the command lines of processes that have queue pairs
    #[arg(long, requires = "queue_pairs", help_heading = "Privacy", hide_short_help = true)]
    pub no_commands: bool,
    /// Hash the users of processes that have queue pairs; KEY is 64 hexadecimal digits, or @ and the path of a file with them: the
    /// same user has the same hash on all hosts with this key
    #[arg(
        long,
        value_name = "KEY",
        requires = "queue_pairs",
        help_heading = "Privacy",
        hide_short_help = true
    )]
    pub hash_users: Option<UserKey>,
    /// Time between two reads
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = within::<10, HOUR>)]
    pub interval: Duration,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, conflicts_with = "once")]
    pub duration: Option<Duration>,
    /// Format: a line for each port and read; with `--once`, a line for each counter. `json` is an array for each read,
    /// `jsonl` and `csv` have a line for each counter: of all counters with `--once`, otherwise of those that changed
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ENDLESS), default_value = "table")]
    pub output: Format,
    /// Print nothing while rows are written to a dataset
    #[arg(short, long)]
    pub quiet: bool,
    /// Read only devices whose name matches PATTERN, such as `mlx5_*`; `host` is the host itself
    #[arg(long, value_name = "PATTERN", num_args = 1.., help_heading = "Selection")]
    pub device: Vec<String>,
    /// Read only counters whose metric or name matches PATTERN, such as `*cnp*`
    #[arg(long, value_name = "PATTERN", num_args = 1.., help_heading = "Selection")]
    pub metric: Vec<String>,
    /// Also read all statistics that the driver of this network interface has
    #[arg(short, long = "interface", value_name = "IFACE", num_args = 1.., help_heading = "Selection")]
    pub interfaces: Vec<String>,
    /// Read a copy of `/sys` in DIR, and nothing else of this host
    #[arg(long, value_name = "DIR", help_heading = "Sources")]
    pub sysfs_root: Option<PathBuf>,
    /// Read a copy of `/proc` in DIR
    #[arg(long, value_name = "DIR", hide = true)]
    pub proc_root: Option<PathBuf>,
    /// Read the output of `ethtool -S IFACE` in DIR/IFACE, instead of asking the driver
    #[arg(long, value_name = "DIR", hide = true)]
    pub ethtool_root: Option<PathBuf>,
    /// Serve Prometheus metrics on this address, such as 127.0.0.1:9466
    #[arg(long, value_name = "ADDRESS", conflicts_with = "once")]
    pub metrics: Option<SocketAddr>,
    /// Name of this host in every row and file name; default: its host name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub observer: Option<String>,
    /// Write a Parquet dataset to this directory: counters that changed
    #[arg(long, value_name = "DIR", conflicts_with = "once", help_heading = "Dataset")]
    pub out: Option<PathBuf>,
    /// Write unchanged counters again after DURATION
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = within::<100, DAY>, help_heading = "Dataset")]
    pub refresh: Duration,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
}

impl From<&CountersArguments> for Pace {
    fn from(arguments: &CountersArguments) -> Self {
        Self {
            interval: arguments.interval,
            refresh: arguments.refresh,
        }
    }
}
