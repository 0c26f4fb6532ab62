//! The arguments of `rocescope top`.

use super::{ENDLESS, Format, HostsArguments, LiveArguments, MeasureArguments, SPAN, SpanArguments, formats};
use crate::filters::filter;
use crate::units::{instant, speed};
use clap::{Args, ValueEnum};
use rocescope_model::filter::Filter;
use rocescope_model::{GroupBy, Time};
use rocescope_view::keys::{Action, Key, parse_binding};
use std::path::PathBuf;

/// `rocescope top`.
#[derive(Debug, Args)]
#[command(mut_arg("interfaces", |option| option.conflicts_with(SPAN)))]
pub struct TopArguments {
    /// Dataset to step through, or capture files to play as with `-r`
    #[arg(value_name = "DATASET|FILE", conflicts_with_all = ["read", "interfaces"])]
    pub inputs: Vec<PathBuf>,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Capture files to play as one, in the order of time: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of
    /// them; `-` for standard input
    #[arg(short, long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["interfaces", SPAN])]
    pub read: Vec<PathBuf>,
    /// Playback speed of a file or dataset: 1 is as recorded, 10 is ten times as fast; `max` does not wait
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub speed: f64,
    /// Start at the window of this time, such as `2026-01-01T09:30:00Z`
    #[arg(long, value_name = "TIME", value_parser = instant, allow_hyphen_values = true, conflicts_with = "interfaces")]
    pub at: Option<Time>,
    /// Count only packets that match EXPR; for a dataset, show only rows that match
    #[arg(long, value_name = "EXPR", value_parser = filter)]
    pub filter: Option<Filter>,
    /// Do not follow connections on interfaces; for a file they are always followed
    #[arg(long)]
    pub no_connections: bool,
    /// UDP destination port that carries RoCEv2; up to four
    #[arg(long = "udp-port", value_name = "PORT", default_value = "4791")]
    pub udp_ports: Vec<u16>,
    /// The view.
    #[command(flatten)]
    pub appearance: AppearanceArguments,
    /// Output without a terminal.
    #[command(flatten)]
    pub once: OnceArguments,
    /// Interfaces to capture on
    #[command(flatten)]
    pub live: LiveArguments,
    /// The measurement.
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// Appearance and keys of the view.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "View")]
pub struct AppearanceArguments {
    /// Sort flows by COLUMN at start, and in printed output
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
    /// Group traffic by `src`, `dst`, `qp` or `opcode`; several keys and prefixes work too, as in `src/24,dst/24`
    #[arg(long, value_name = "KEYS")]
    pub by: Option<GroupBy>,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Show rates in bytes per second instead of bits per second
    #[arg(long)]
    pub bytes: bool,
    /// Show times on the screen in local time instead of UTC; printed output and sentences have UTC
    #[arg(long)]
    pub local_time: bool,
    /// Maximum number of screen updates per second
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=60))]
    pub fps: u8,
    /// Colour theme; default: `dark`, or `none` if the environment variable `NO_COLOR` is set
    #[arg(long, value_enum)]
    pub theme: Option<ThemeName>,
    /// Use only ASCII characters; automatic if the locale is not UTF-8
    #[arg(long)]
    pub ascii: bool,
    /// Select rows, headings and tabs with the mouse
    #[arg(long)]
    pub mouse: bool,
    /// Bind a key to an action, such as `quit=ctrl-q`; the help page (`?`) lists the keys of all actions
    #[arg(long = "bind", value_name = "ACTION=KEY", value_parser = parse_binding)]
    pub bindings: Vec<(Action, Key)>,
}

/// A colour theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// Colours for a dark terminal
    Dark,
    /// Colours for a light terminal
    Light,
    /// No colours
    None,
}

/// Prints windows instead of drawing them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Without a terminal")]
pub struct OnceArguments {
    /// Print one window and exit: of a file the first, of a dataset the first with traffic, with `--table incidents` that
    /// of the worst incident
    #[arg(long)]
    pub once: bool,
    /// Print COUNT windows
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "once", value_parser = clap::value_parser!(u64).range(1..))]
    pub windows: u64,
    /// Format: `table` and `csv` print one table, `json` a line for each window with the rows of every table, `jsonl` the
    /// same for every window until the end, without `--once`
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ENDLESS), default_value = "table")]
    pub output: Format,
    /// Table for the formats `table` and `csv`; default: `flows`, or `pairs` if there are only probes
    #[arg(long, value_enum, requires = "once")]
    pub table: Option<TableName>,
}

impl OnceArguments {
    /// Whether windows are printed instead of drawn.
    ///
    /// # Errors
    /// A format for printed windows without `--once`.
    pub fn is_printed(&self) -> anyhow::Result<bool> {
        match self.output {
            Format::Jsonl => Ok(true),
            Format::Json | Format::Csv if !self.once => {
                anyhow::bail!("-o json and -o csv need --once; -o jsonl prints every window until the end")
            }
            _ => Ok(self.once),
        }
    }
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
    /// Packet delivery contexts of UET
    Pdcs,
    /// Events
    Events,
    /// Totals of the window
    Windows,
    /// Traffic by what `--by` names; default with `--by`
    Groups,
    /// Pairs of NICs, for a dataset with probes
    Pairs,
    /// Service level of the probe mesh
    Sla,
    /// Problems of the mesh
    Verdicts,
    /// Links of the mesh
    Links,
    /// Ports of hosts, for a dataset with counters and live
    HostPorts,
    /// Incidents
    Incidents,
}
