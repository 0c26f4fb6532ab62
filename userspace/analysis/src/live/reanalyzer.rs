//! Analyzes closed windows again, from the dataset, in a thread of its own.
//!
//! The windows before them are analyzed first, for baselines and for problems that continue. The thread holds the rows
//! of a window, or of several if they are few, and rests as long as it works: it takes at most half a core.

use crate::{Analysis, Error, dataset};
use rocescope_collector::server::Rows;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::thread::sleep;
use std::time::Instant;

/// Rows that are read at once: a probe takes 16 bytes.
const MAX_ROWS: u64 = 16_000_000;

/// Analyzes windows of which rows came late.
pub(super) trait Reanalyzer: Send + Sync + 'static {
    /// What a later analysis changes.
    type Changes: Send + 'static;

    /// The length of a window.
    fn window_ns(&self) -> i64;

    /// The windows in a time of which the dataset has more rows than their latest analysis counts.
    fn incomplete_windows(&self, time: Range<i64>) -> Result<Vec<i64>, Stop>;

    /// Analyzes these windows, by their starts, with the number of the latest analysis if this process made it.
    fn analyze(&self, windows: BTreeMap<i64, Option<u32>>, sender: &Sender<Self::Changes>) -> Result<(), Stop>;
}

/// What the thread reports.
pub(super) enum Message<C> {
    /// Windows whose latest analysis lacks rows of the dataset, by their starts.
    Incomplete(Vec<i64>),
    /// Windows were analyzed again.
    Revised(Box<Revised<C>>),
    /// The rows of the latest analysis of this window are not sealed yet.
    Unsealed(i64),
    /// The dataset cannot be read.
    Failed(String),
}

/// Windows that were analyzed again.
pub(super) struct Revised<C> {
    /// Their starts, and the numbers of their analyses.
    pub(super) windows: Vec<(i64, u32)>,
    /// Rows to store, in their order.
    pub(super) rows: Vec<Rows>,
    pub(super) changes: C,
}

/// Why the thread ends early.
pub(super) enum Stop {
    /// The receiver is gone: the collector ends.
    Closed,
    /// The analysis failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<rocescope_store::Error> for Stop {
    fn from(error: rocescope_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Where the thread reports.
pub(super) struct Sender<C>(pub(super) SyncSender<Message<C>>);

impl<C> Sender<C> {
    pub(super) fn send(&self, message: Message<C>) -> Result<(), Stop> {
        self.0.send(message).map_err(|_| Stop::Closed)
    }

    /// Reports why the thread ends, if it failed.
    pub(super) fn end(&self, result: Result<(), Stop>) {
        if let Err(Stop::Failed(error)) = result {
            let source = error.source().map_or(String::new(), |source| format!(": {source}"));
            // Without a receiver the collector ends.
            let _ = self.0.send(Message::Failed(format!("{error}{source}")));
        }
    }
}

/// Feeds a time to an analysis, and passes each window on.
pub(super) fn pass<A: Analysis>(
    analysis: &mut A,
    dataset: &Path,
    time: Range<i64>,
    take: impl FnMut(&A, A::Report) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let found = dataset::query::<A>(time.clone().into()).scan(dataset)?;
    let mut begun = Instant::now();
    let rest = || {
        sleep(begun.elapsed());
        begun = Instant::now();
    };
    dataset::slices(analysis, &found, &time, MAX_ROWS, take, rest)
}
