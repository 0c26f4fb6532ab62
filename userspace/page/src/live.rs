//! The thread that keeps the rows of the last minutes, and renders the views of times among them.

use crate::board::Board;
use crate::kept::{KEPT_NS, Kept, TABLES};
use crate::pace::Pace;
use crate::render::{self, Shown};
use crate::source::Message;
use crate::view::{Span, View};
use crate::{Error, Settings};
use rocescope_diagnose::incidents::{Captured, Document};
use rocescope_host::memory;
use rocescope_model::{IncidentRow, Row as _, Time, WindowRows};
use rocescope_report::Origin;
use rocescope_store::{Follower, Query, TimeRange};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Interval between two looks for rows of a dataset.
const POLL: Duration = Duration::from_millis(500);
/// Interval between two looks for views, while nothing comes.
const IDLE: Duration = Duration::from_secs(1);
/// Rows older than this are not of now: the dataset does not grow.
const NEW_NS: i64 = 120_000_000_000;
/// How far back open incidents of a collector are read.
const OPEN_NS: i64 = 7 * 86_400_000_000_000;
/// The oldest rows of a time may be missing for this long: those of several tables end at different times.
const SLACK_NS: i64 = 5_000_000_000;
/// Messages between two looks at views.
const BATCH: usize = 64;

pub(crate) struct Live {
    board: Arc<Board>,
    rows: Receiver<Message>,
    origin: Origin,
    kept: Kept,
    captured: Captured,
    follower: Option<(Follower, PathBuf)>,
    polled: Option<Instant>,
    /// Rows of a look at the dataset that an error ended.
    unfinished: WindowRows,
    /// Why the dataset could not be followed the last time.
    fault: Option<String>,
    pace: Pace,
    /// Whether rows came since the views were rendered.
    has_new: bool,
    has_dataset: bool,
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
}

/// Whether a view is rendered from memory, which has rows of this long: without a dataset, all are.
pub(crate) fn is_live(view: &View, has_dataset: bool, kept_ns: i64) -> bool {
    !has_dataset || matches!(view.span, Span::Last(length_ns) if length_ns <= kept_ns.saturating_add(SLACK_NS))
}

impl Live {
    pub(crate) fn new(settings: &Settings, board: Arc<Board>, rows: Receiver<Message>) -> Result<Self, Error> {
        let root = settings.dataset.as_ref().filter(|_| !settings.is_fed);
        let mut live = Self {
            board,
            rows,
            origin: Origin {
                dataset: settings.title.clone(),
                hosts: (*settings.names).clone(),
                ..Origin::default()
            },
            kept: Kept::default(),
            captured: Captured::default()
                .with(&settings.names)
                .sampling(settings.mirror_sampling),
            follower: root.map(|root| (Follower::new(root, TABLES), root.clone())),
            polled: None,
            unfinished: WindowRows::default(),
            fault: None,
            pace: Pace::default(),
            has_new: false,
            has_dataset: settings.dataset.is_some(),
            clock: Arc::clone(&settings.clock),
        };
        live.poll(Instant::now())?;
        // It read minutes, and forgot most of their rows when they were judged.
        memory::give_back();
        live.board
            .rows_of(live.kept.begin(), live.kept.end(), live.has_new_rows());
        Ok(live)
    }

    pub(crate) fn run(mut self) {
        loop {
            let wait = match (&self.follower, self.has_new) {
                (Some(_), _) => POLL,
                (None, true) => self.pace.rest(Instant::now()).min(IDLE),
                (None, false) => IDLE,
            };
            match self.rows.recv_timeout(wait) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            for _ in 0..BATCH {
                let Ok(message) = self.rows.try_recv() else { break };
                self.take(message);
            }
            let now = Instant::now();
            if self
                .polled
                .is_none_or(|polled| now.saturating_duration_since(polled) >= POLL)
            {
                self.fault = self.poll(now).err().map(|error| error.to_string());
            }
            self.board
                .rows_of(self.kept.begin(), self.kept.end(), self.has_new_rows());
            self.board.unread.store(self.unread(), Ordering::Relaxed);
            self.render();
        }
    }

    fn take(&mut self, message: Message) {
        if let Message::Rows(rows) = message {
            self.captured.rows(&rows);
            self.kept.add(*rows);
            self.has_new = true;
            self.board.rows_came();
        }
    }

    /// Reads what was added to the dataset.
    fn poll(&mut self, now: Instant) -> Result<(), Error> {
        let Some((follower, root)) = &mut self.follower else {
            return Ok(());
        };
        let is_first = self.polled.replace(now).is_none();
        let since = match is_first {
            true => {
                // A dataset that ended long ago is shown as it was then.
                let newest = Query::default().scan(root)?.time_span().map(|(_, newest)| newest);
                let from = newest.unwrap_or_else(&*self.clock);
                // Incidents stay open for longer than rows are kept.
                let open = TimeRange::since(Time(from.0.saturating_sub(OPEN_NS)));
                let rows = Query::default()
                    .tables(&[IncidentRow::TABLE])
                    .within(open)
                    .scan(root)?
                    .rows()?;
                self.kept.incidents(rows);
                Time(from.0.saturating_sub(KEPT_NS))
            }
            false => self.kept.begin(),
        };
        let (mut rows, mut is_new, kept) = (std::mem::take(&mut self.unfinished), false, &mut self.kept);
        let polled = follower.poll(since, |batch| {
            is_new = true;
            kept.add_batch(&batch, &mut rows);
        });
        // What was read before an error is not read again, and waits for the rest of its windows.
        if let Err(error) = polled {
            self.unfinished = rows;
            return Err(error.into());
        }
        if is_new || !rows.windows.is_empty() {
            rows.windows.sort_by_key(|row| row.window_start_ns);
            self.captured.rows(&rows);
            self.kept.add(rows);
            self.has_new = true;
            self.board.rows_came();
        }
        Ok(())
    }

    fn unread(&self) -> u64 {
        let undecoded = self.follower.as_ref().map_or(0, |(follower, _)| follower.unreadable());
        self.kept.unread() + undecoded
    }

    fn has_new_rows(&self) -> bool {
        let now = (self.clock)();
        let is_new = |end: Time| end.0 >= now.0.saturating_sub(NEW_NS);
        match &self.follower {
            Some(_) => self.kept.end().is_some_and(is_new),
            None => true,
        }
    }

    /// Renders views that show nothing yet, and all of them when rows came, if this thread has rested.
    fn render(&mut self) {
        let (has_dataset, kept_ns) = (self.has_dataset, self.board.kept_ns());
        let begun = Instant::now();
        let mut views = self.board.new_views(|view| is_live(view, has_dataset, kept_ns));
        if self.has_new && self.pace.is_free(begun) {
            self.has_new = false;
            views.extend(self.board.due_views(begun, |view| is_live(view, has_dataset, kept_ns)));
        }
        if views.is_empty() {
            return;
        }
        // A collector judges all that it has rows of, captured traffic included.
        let incidents = self.kept.reported().unwrap_or_else(|| self.captured.current());
        for view in views {
            let shown = self.shown(&view, incidents.clone());
            self.board.show(&view, shown, self.board.rows(), None);
        }
        let ended = Instant::now();
        self.pace.worked(ended.saturating_duration_since(begun), ended);
    }

    fn shown(&self, view: &View, mut incidents: Document) -> Shown {
        let end = self.kept.end();
        let (from, to) = match view.span {
            Span::Last(length_ns) => (end.map(|end| Time(end.0.saturating_sub(length_ns))), None),
            Span::Fixed(from, to) => (from, to),
        };
        // Incidents that ended are shown as long as their rows are in memory, also beside a shorter time.
        let begin_ns = from.map_or(i64::MIN, |from| from.0.min(self.kept.begin().0));
        let end_ns = to.map_or(i64::MAX, |to| to.0);
        incidents
            .incidents
            .retain(|incident| (incident.is_open || incident.until_ns >= begin_ns) && incident.since_ns < end_ns);
        incidents.incidents.sort_by_key(|incident| !incident.is_open);
        if from.is_some_and(|from| from < self.kept.begin()) && self.kept.end().is_some() {
            incidents.notes.push(format!(
                "rows from {:.0} on are in memory; a capture with --out keeps earlier ones",
                self.kept.begin()
            ));
        }
        match self.kept.report(view.scope(from, to), self.origin.clone(), incidents) {
            Ok(report) => render::shown(view, report, to.or(end), self.fault.clone()),
            Err(error) => render::failed(error.to_string()),
        }
    }
}
