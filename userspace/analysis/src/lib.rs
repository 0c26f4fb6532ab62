//! Analyses of rows, and what drives them: over a dataset, live in the collector, and again when rows come late.
//!
//! An [`Analysis`] states which tables and columns it reads, takes rows in any order within the caller's lateness, and
//! reports window by window. The analyses themselves are pure and in crates of their own; here they meet the dataset,
//! the clock and the collector.
//!
//! | module | what it does |
//! |---|---|
//! | [`input`] | [`Input`]: a table that an analysis reads, and how its rows reach it |
//! | [`dataset`] | feeds an analysis from a dataset: hour by hour, or in slices of time |
//! | [`mesh`], [`hosts`] | probes and paths of a mesh; counters of hosts and captured traffic |
//! | [`hostping`], [`collectives`] | loopback tests inside hosts; steps of collectives |
//! | [`incidents`] | all analyses that rows allow, joined |
//! | [`owners`] | whose captured traffic is, from the queue pairs that agents report |
//! | [`mod@report`] | a dataset as the data of all documents |
//! | [`live`] | windows that are analyzed as they end by the clock, and again when rows come late |
//! | [`pinglists`] | hands out whom agents probe, by the switches that traces show |
//! | [`topology`] | the topology file: addresses and ports of switches, and the links between them |
//! | [`cores`] | the two cores that an analysis uses |

pub mod collectives;
pub mod cores;
pub mod dataset;
pub mod hostping;
pub mod hosts;
pub mod incidents;
pub mod input;
pub mod live;
pub mod mesh;
pub mod owners;
pub mod paths;
pub mod pinglists;
pub mod report;
pub mod topology;

pub use input::{Input, Reads};

use rocescope_model::{Cells, Table, Time, footer};
use rocescope_store::{Batch, Scan};
use std::fmt::Debug;

/// Reads rows and reports about windows of time.
///
/// What it promises, and the contract test checks for each analysis:
///
/// - The columns that [`INPUTS`](Self::INPUTS) selects are enough.
/// - Rows may come at once or in steps: the reports are the same.
/// - No window is reported twice.
/// - [`finish`](Self::finish) reports the windows that have not ended.
/// - A row of a window that was reported names it in [`late_windows`](Self::late_windows), and opens it no more.
pub trait Analysis: Sized + 'static {
    /// What it reports about a window.
    type Report: Debug + Clone + PartialEq + Send;

    /// The tables that it reads, in the order in which their rows of an hour are read.
    const INPUTS: &'static [Input<Self>];

    /// Whether it reports window by window; otherwise only about all rows, at the end.
    const HAS_WINDOWS: bool = true;

    /// The length of a window.
    fn window_ns(&self) -> i64 {
        1
    }

    /// How long after the end of a window its last rows may be dated.
    fn trailing_ns(&self) -> i64 {
        0
    }

    /// The start of the window, run or collective of a report.
    fn start(report: &Self::Report) -> Time;

    /// Adds the rows of a batch, if it reads their table. Rows that do not fit their table are left out.
    fn feed(&mut self, rows: &Batch) {
        let input = Self::INPUTS.iter().find(|input| input.table == rows.table());
        if let Some(input) = input {
            input.feed(self, rows);
        }
    }

    /// Reports about the earliest window that ends at the watermark or before; rows of it that come later are late.
    fn advance(&mut self, _watermark: Time) -> Option<Self::Report> {
        None
    }

    /// Reports about the earliest window that has rows, whether it has ended or not. Call it until there is none.
    fn finish(&mut self) -> Option<Self::Report>;

    /// The windows, by their starts, of which rows came late since the last call.
    fn late_windows(&mut self) -> Vec<Time> {
        Vec::new()
    }
}

/// Why rows cannot be analyzed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The dataset cannot be read or written.
    #[error(transparent)]
    Store(#[from] rocescope_store::Error),
    /// The dataset of an earlier collector cannot be read.
    #[error("the dataset")]
    Resume(#[source] rocescope_store::Error),
    /// The settings of the analysis of the mesh.
    #[error(transparent)]
    Mesh(#[from] rocescope_diagnose::hostmesh::SettingsError),
    /// The settings of the analysis of hosts.
    #[error(transparent)]
    Hosts(#[from] rocescope_diagnose::hosts::SettingsError),
    /// The filter of a report.
    #[error(transparent)]
    Filter(#[from] rocescope_model::filter::FilterError),
    /// The topology file.
    #[error("{0}")]
    Topology(String),
    /// The dataset has no collective of this name, but these.
    #[error("there is no collective {0} in this dataset and time: it has {1}")]
    NoCollective(String, String),
    /// The dataset keeps no incident of this ID; with the number of rows that it has.
    #[error(
        "no incident {0} among the {1} rows of the table `incidents`: `rocescope diagnose DATASET --write` keeps what it finds"
    )]
    NoIncident(String, u64),
    /// A note has no text, or more than this number of characters.
    #[error("a note has 1 to {0} characters")]
    Note(usize),
    /// The dataset has rows of this analyzer.
    #[error("the dataset already has a diagnosis by {0}: choose another --observer")]
    NotFirst(String),
}

/// Refuses a second diagnosis by the same analyzer.
fn ensure_first(found: &Scan, tables: &[&Table], observer: &str) -> Result<(), Error> {
    let mut segments = tables.iter().flat_map(|table| found.table(table.name));
    match segments.any(|segment| segment.footer(footer::OBSERVER) == Some(observer)) {
        true => Err(Error::NotFirst(observer.to_owned())),
        false => Ok(()),
    }
}

/// The unreadable files, with the reasons.
fn unreadable(found: &Scan) -> Vec<String> {
    let files = found.damaged().into_iter();
    files
        .map(|file| format!("{}: {}", file.path.display(), file.reason))
        .collect()
}
