//! Windows that are analyzed as they end by the clock, in the collector, and again when rows of them come late.
//!
//! | module | what it does |
//! |---|---|
//! | [`mesh`], [`hosts`] | reports what begins and ends; which rows are stored |
//! | `incidents` | joins what they find: what opens, changes and closes |
//! | `owned` | whose captured traffic is |
//! | [`reanalysis`] | which windows wait for a later analysis |
//! | `reanalyzer` | the thread that analyzes them, from the dataset |
//! | `reported` | faults of hosts that were stored as begun or ended |
//!
//! The watermark is the collector's own clock minus the lateness. It requires that the hosts' clocks are accurate to a
//! few seconds; a watermark from the newest row would fail if one agent's clock is ahead.

pub mod hosts;
mod incidents;
pub mod mesh;
mod owned;
pub mod reanalysis;
mod reanalyzer;
mod reported;

use crate::incidents::OnIncident;
use crate::{Analysis, Error, dataset};
use incidents::Incidents;
use reanalysis::Reanalysis;
use reanalyzer::Reanalyzer;
use rocescope_collector::metrics::Diagnosed;
use rocescope_collector::server::{self, Rows};
use rocescope_model::{Text, Time};
use rocescope_store::{Batch, TimeRange, repair};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Takes lines for the operator.
pub type Notices = Arc<dyn Fn(&str) + Send + Sync>;
/// The clock of the collector.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// Settings of the analyses in a collector.
#[derive(Clone)]
pub struct Settings {
    /// The dataset that the collector writes.
    pub dataset: PathBuf,
    /// The name in the rows of the analyses.
    pub observer: Text,
    /// A window is analyzed this long after its end.
    pub lateness: Duration,
    /// Rows are sealed by this age.
    pub segment_age: Duration,
    /// The topology file.
    pub topology: Option<PathBuf>,
    /// Windows are shorter by this factor.
    pub scale: u16,
    /// Whether only new problems are reported, and not that they end.
    pub quiet: bool,
    /// The time of windows.
    pub clock: Clock,
    /// Where reports go.
    pub notices: Notices,
    /// The metrics, to which every window is added.
    pub diagnosed: Diagnosed,
    /// What gets each change of an incident.
    pub on_incident: Option<OnIncident>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("dataset", &self.dataset)
            .field("observer", &self.observer)
            .finish_non_exhaustive()
    }
}

impl Settings {
    fn now_ns(&self) -> i64 {
        (self.clock)().0
    }

    /// Before this no more rows are expected.
    fn watermark(&self) -> Time {
        Time(self.now_ns() - nanos(self.lateness))
    }

    /// How long after the last row of a time all its rows are sealed, and so are those of its analysis.
    fn pause(&self) -> Duration {
        self.segment_age + SEALED
    }

    fn notice(&self, line: &str) {
        (self.notices)(line);
    }
}

/// Rows are sealed a bit later than their age requires.
const SEALED: Duration = Duration::from_secs(1);
/// As the collector accepts. Earlier ones stored rows dated further ahead, which would wait in memory until then.
const MAX_AHEAD: Duration = Duration::from_secs(300);

/// Reports what an analysis finds.
trait Reporter: Send {
    type Analysis: Analysis + Send;
    type Reanalyzer: Reanalyzer;

    /// Reports what changed with a window; returns the rows to store, in their order.
    fn report(&mut self, analysis: &Self::Analysis, window: Report<Self>, due: &mut Vec<Rows>);

    /// Takes what a later analysis of windows changes; adds rows to store.
    fn revise(&mut self, analysis: &Self::Analysis, changes: ChangesOf<Self>, due: &mut Vec<Rows>);

    /// Reports what later analyses changed since the last call.
    fn report_revised(&mut self);
}

type Report<R> = <<R as Reporter>::Analysis as Analysis>::Report;
type ChangesOf<R> = <<R as Reporter>::Reanalyzer as Reanalyzer>::Changes;

/// Drives an analysis: rows as they are stored, windows as they end.
struct Driver<R: Reporter> {
    settings: Settings,
    analysis: R::Analysis,
    reporter: R,
    reanalysis: Reanalysis<R::Reanalyzer>,
    /// Rows about the time before the start.
    pending: Vec<Rows>,
}

impl<R: Reporter> Driver<R> {
    fn advance(&mut self, due: &mut Vec<Rows>) {
        let watermark = self.settings.watermark();
        while let Some(window) = self.analysis.advance(watermark) {
            self.reanalysis.analyzed(R::Analysis::start(&window).0);
            self.reporter.report(&self.analysis, window, due);
        }
    }
}

impl<R: Reporter> server::Analysis for Driver<R> {
    fn stored(&mut self, rows: &Batch) {
        self.analysis.feed(rows);
        let late = self.analysis.late_windows();
        self.reanalysis.note(&late, self.settings.watermark());
    }

    fn due(&mut self) -> Vec<Rows> {
        let mut due = std::mem::take(&mut self.pending);
        self.advance(&mut due);
        let (changes, has_ended) = self.reanalysis.due(Instant::now(), &mut due);
        for changes in changes {
            self.reporter.revise(&self.analysis, changes, &mut due);
        }
        if has_ended {
            self.reporter.report_revised();
        }
        due.retain(|cells| cells.rows() > 0);
        due
    }

    /// The open window has not ended: the next collector reads its rows and continues.
    fn finish(&mut self) -> Vec<Rows> {
        self.due()
    }
}

/// Several analyses of the same rows, and the join of what they find.
struct All {
    mesh: Driver<mesh::Mesh>,
    hosts: Driver<hosts::Hosts>,
    incidents: Incidents,
}

impl server::Analysis for All {
    fn stored(&mut self, rows: &Batch) {
        self.mesh.stored(rows);
        self.hosts.stored(rows);
        self.incidents.stored(rows);
    }

    fn due(&mut self) -> Vec<Rows> {
        let mut due = self.mesh.due();
        due.extend(self.hosts.due());
        due.extend(self.incidents.due(&mut self.mesh, &mut self.hosts));
        due
    }

    /// Open incidents stay open: the next collector goes on with them.
    fn finish(&mut self) -> Vec<Rows> {
        let due = self.due();
        self.incidents.finish();
        due
    }
}

/// The analyses of a collector: those of the mesh and of hosts, and their incidents. They continue where an earlier collector ended.
///
/// # Errors
/// The topology file is invalid, or the dataset cannot be read.
pub fn start(settings: &Settings) -> Result<Box<dyn server::Analysis>, Error> {
    if settings.dataset.is_dir() {
        repair(&settings.dataset).map_err(Error::Resume)?;
    }
    let mut all = All {
        mesh: mesh::start(settings)?,
        hosts: hosts::start(settings)?,
        incidents: Incidents::new(settings),
    };
    if settings.dataset.is_dir() {
        all.incidents.resume(&mut all.mesh)?;
    }
    Ok(Box::new(all))
}

/// Feeds the rows of the dataset since `from_ns`, and those that are valid then. A collector that was killed had rows
/// that were stored but not analyzed yet, and state about recent windows.
fn resume<A: Analysis>(settings: &Settings, analysis: &mut A, from_ns: i64) -> Result<(), rocescope_store::Error> {
    let since = TimeRange::since(Time(from_ns));
    let found = dataset::query::<A>(since).scan(&settings.dataset)?;
    let last_ns = settings.now_ns() + nanos(MAX_AHEAD);
    for input in A::INPUTS {
        input.slice(
            analysis,
            &found,
            crate::input::earlier(since, input.look_back_ns),
            last_ns,
        )?;
    }
    Ok(())
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
