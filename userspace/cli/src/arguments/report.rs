//! `rocescope report`.

use super::{ALL, Format, HostsArguments, SpanArguments, formats};
use crate::filters::filter;
use crate::units::count;
use clap::{Args, ValueEnum};
use rocescope_model::filter::Filter;
use rocescope_model::{GroupBy, Resolution};
use rocescope_report::collect::OwnedBy;
use std::path::PathBuf;
use std::str::FromStr;

/// `rocescope report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Dataset, or capture files to read as one: pcap, pcapng, ERF or snoop, plain or compressed; or a directory of them; `-` for
    /// standard input
    #[arg(value_name = "DATASET|FILE", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Format; `csv` and `jsonl` print one table; default: `table`, or nothing with `--html`
    #[arg(short, long, value_name = "FORMAT", value_parser = formats(ALL))]
    pub output: Option<Format>,
    /// Table that `-o csv` and `-o jsonl` print
    #[arg(long, value_enum, default_value_t = ReportTable::Flows)]
    pub table: ReportTable,
    /// Write a self-contained HTML page with charts
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Read rows of rollups up to RESOLUTION, 1m, 1h or 1d, and captured ones alone with 1s. Default: 1m for times longer than
    /// 6 hours, 1h from 2 days on, 1d from 800 days on
    #[arg(long, value_name = "RESOLUTION")]
    pub resolution: Option<Resolution>,
    /// Maximum number of rows of each list
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = count)]
    pub top: usize,
    /// Include only flows, connections and events that match EXPR, such as `host 10.0.0.1`
    #[arg(long, value_name = "EXPR", value_parser = filter)]
    pub filter: Option<Filter>,
    /// Group traffic by `src`, `dst`, `qp` or `opcode`; several keys and prefixes work too, as in `src/24,dst/24`. `job`, `host` and
    /// `process` group it by the owners of queue pairs that agents report: default `job`
    #[arg(long, value_name = "KEYS")]
    pub by: Option<By>,
    /// Names of addresses.
    #[command(flatten)]
    pub hosts: HostsArguments,
    /// Include only rows of this capture box
    #[arg(long, value_name = "NAME")]
    pub observer: Option<String>,
}

/// What traffic is grouped by.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// Columns of flows, or opcodes.
    Traffic(GroupBy),
    /// Owners of queue pairs.
    Owner(OwnedBy),
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(owned) => Ok(Self::Owner(owned)),
            Err(_) => text
                .parse()
                .map(Self::Traffic)
                .map_err(|error: String| format!("{error}; alone `job`, `host` or `process`")),
        }
    }
}

/// A table of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportTable {
    /// Largest flows
    Flows,
    /// Traffic by what `--by` names
    Groups,
    /// Connections with the most problems, one row for each direction
    Connections,
    /// Packet delivery contexts of UET, those with the most losses first
    Pdcs,
    /// All opcodes
    Opcodes,
    /// Most significant events of each kind
    Events,
    /// Windows, at most 1,000; neighbours are merged if there are more
    Windows,
    /// Pairs of NICs that probed each other
    Pairs,
    /// Service level of the probe mesh over time
    Sla,
    /// Last verdict of each problem in the mesh
    Verdicts,
    /// Links of the mesh, summed over time
    Links,
}
