//! `rocescope report`.

use crate::units::instant;
use clap::{Args, ValueEnum};
use rocescope_model::Time;
use rocescope_model::filter::Filter;
use std::path::PathBuf;

/// `rocescope report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The dataset
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// How the report is printed; `text`, unless `--html` alone is asked for
    #[arg(short, long, value_enum)]
    pub output: Option<ReportOutput>,
    /// The table that `-o csv` prints
    #[arg(long, value_enum, default_value_t = ReportTable::Flows)]
    pub table: ReportTable,
    /// Write one HTML page with charts, which opens without a network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Windows and events from this time on, in UTC, such as 2026-11-21T02:30:09Z
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub from: Option<Time>,
    /// Windows and events before this time
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub to: Option<Time>,
    /// Rows of each list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Flows, connections and events for which this holds, such as `host 10.0.0.1`
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<Filter>,
    /// Rows of this capture point alone
    #[arg(long, value_name = "NAME")]
    pub observer: Option<String>,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportOutput {
    /// For terminals
    Text,
    /// For issues and wikis
    Markdown,
    /// One JSON object
    Json,
    /// One table, see `--table`
    Csv,
}

/// A table of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportTable {
    /// The largest flows
    Flows,
    /// The connections with most trouble, a row a direction
    Connections,
    /// All opcodes
    Opcodes,
    /// The most telling events of each kind
    Events,
    /// Windows, at most 1,000: of more, neighbours are joined
    Windows,
    /// The pairs of NICs that probed each other
    Pairs,
    /// How well the mesh of probes did over time
    Sla,
    /// What fails in it: the last verdict of each problem
    Verdicts,
    /// Its links, summed over time
    Links,
}
