//! The arguments of `rocescope top`.

use super::{LiveArguments, MeasureArguments};
use crate::filters::filter;
use crate::units::{instant, speed};
use clap::{Args, ValueEnum};
use rocescope_model::Time;
use rocescope_model::filter::Filter;
use rocescope_view::keys::{Action, Key, parse_binding};
use std::path::PathBuf;

/// `rocescope top`.
#[derive(Debug, Args)]
pub struct TopArguments {
    /// Dataset to step through
    #[arg(value_name = "DATASET", conflicts_with_all = ["read", "interfaces"])]
    pub dataset: Option<PathBuf>,
    /// Capture file to play: pcap or pcapng, plain, gzip or zstd; `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "interfaces")]
    pub read: Option<PathBuf>,
    /// How fast a file or dataset is played: 1 as recorded, 10 ten times as fast, `max`
    #[arg(long, value_name = "N", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// Begin with the window of this time, such as `2026-01-01T09:30:00Z`
    #[arg(long, value_name = "TIME", value_parser = instant, conflicts_with = "interfaces")]
    pub at: Option<Time>,
    /// Keep only packets for which this holds; of a dataset, show only such rows
    #[arg(long, value_name = "EXPR", value_parser = filter)]
    pub filter: Option<Filter>,
    /// Follow connections on interfaces too; of a file they always are
    #[arg(long)]
    pub connections: bool,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// How it looks
    #[command(flatten)]
    pub look: LookArguments,
    /// Without a terminal
    #[command(flatten)]
    pub once: OnceArguments,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// What is measured, and how finely
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// How the view looks, and what its keys do.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "View")]
pub struct LookArguments {
    /// Column by which flows are sorted first, also where they are printed
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
    /// Rates in bytes a second instead of bits, on the screen and in text tables
    #[arg(long)]
    pub bytes: bool,
    /// Times a second that the screen is painted at most
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=60))]
    pub fps: u8,
    /// Colours; without it those for a dark terminal, and none where the variable `NO_COLOR` is set
    #[arg(long, value_enum)]
    pub theme: Option<ThemeName>,
    /// ASCII characters alone; chosen by itself where the locale is not UTF-8
    #[arg(long)]
    pub ascii: bool,
    /// Rows, headings and tabs are chosen by the mouse too
    #[arg(long)]
    pub mouse: bool,
    /// Give a key to an action, such as `quit=ctrl-q`; the help page (`?`) lists the actions' keys
    #[arg(long = "bind", value_name = "ACTION=KEY", value_parser = parse_binding)]
    pub bindings: Vec<(Action, Key)>,
}

/// Colours by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// For a dark terminal
    Dark,
    /// For a bright one
    Light,
    /// None
    None,
}

/// Windows printed instead of drawn.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Without a terminal")]
pub struct OnceArguments {
    /// Print a window and end; of a file or dataset the first one
    #[arg(long)]
    pub once: bool,
    /// Print so many windows
    #[arg(long, value_name = "N", default_value_t = 1, requires = "once", value_parser = clap::value_parser!(u64).range(1..))]
    pub windows: u64,
    /// How they are printed
    #[arg(short, long, value_enum, default_value_t = OnceOutput::Table, requires = "once")]
    pub output: OnceOutput,
    /// The table of `table` and `csv`; without it `flows`, or `pairs` where there are probes alone
    #[arg(long, value_enum, requires = "once")]
    pub table: Option<TableName>,
}

/// How a window is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnceOutput {
    /// For people: its sums, and the first rows of a table
    Table,
    /// One JSON object a window and line, with the rows of every table
    Json,
    /// The rows of a table under the names of its columns, all of them, as RFC 4180 has it
    Csv,
}

/// A table of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableName {
    /// Top flows
    Flows,
    /// Opcode mix
    Opcodes,
    /// Each direction of each connection
    Connections,
    /// Events
    Events,
    /// The sums
    Windows,
    /// Of a dataset with probes, the pairs of NICs
    Pairs,
    /// How well the mesh of probes did
    Sla,
    /// What fails in it
    Verdicts,
    /// Its links
    Links,
}
