//! The arguments of `rocescope compare`.

use super::{ALL, Format, HostsArguments, SpanArguments, formats};
use crate::units::{count, instant};
use clap::Args;
use rocescope_model::{Resolution, Time};
use std::path::PathBuf;

/// `rocescope compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Dataset of the first span, A
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Dataset of the second span, B; default: the same dataset, with `--with-from` and `--with-to`
    #[arg(value_name = "B", required_unless_present_any = ["with_from", "with_to"])]
    pub b: Option<PathBuf>,
    /// The time of A.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Read rows of rollups up to RESOLUTION, 1m, 1h or 1d, and captured ones alone with 1s. Default: 1m for times longer than
    /// 6 hours, 1h from 2 days on, 1d from 800 days on
    #[arg(long, value_name = "RESOLUTION")]
    pub resolution: Option<Resolution>,
    /// Read only rows of B from this time on, as in `--from`
    #[arg(long, value_name = "TIME", value_parser = instant, allow_hyphen_values = true)]
    pub with_from: Option<Time>,
    /// Read only rows of B before this time
    #[arg(long, value_name = "TIME", value_parser = instant, allow_hyphen_values = true)]
    pub with_to: Option<Time>,
    /// Include only rows of this capture box
    #[arg(long, value_name = "NAME")]
    pub observer: Option<String>,
    /// Maximum number of changes of each table
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = count)]
    pub top: usize,
    /// Format; of the changes alone in `jsonl`, `csv` and `markdown`
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ALL), default_value = "table")]
    pub output: Format,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
}
