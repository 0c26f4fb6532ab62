//! The thread that renders views of times that are not in memory, from the dataset.

use crate::Settings;
use crate::board::Board;
use crate::live::is_live;
use crate::pace::Pace;
use crate::render::{self, Shown};
use crate::view::{Span, View};
use rocescope_analysis::report;
use rocescope_host::memory;
use rocescope_model::Time;
use rocescope_model::hosts::Hosts;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two looks for views.
const POLL: Duration = Duration::from_millis(50);
/// Rows are read again at this interval at the earliest: those of the last minute are not sealed yet.
const AGAIN: Duration = Duration::from_secs(10);

pub(crate) struct History {
    board: Arc<Board>,
    root: PathBuf,
    title: String,
    names: Arc<Hosts>,
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
    pace: Pace,
}

impl History {
    /// `None` without a dataset.
    pub(crate) fn new(settings: &Settings, board: Arc<Board>) -> Option<Self> {
        Some(Self {
            board,
            root: settings.dataset.clone()?,
            title: settings.title.clone(),
            names: Arc::clone(&settings.names),
            clock: Arc::clone(&settings.clock),
            pace: Pace::default(),
        })
    }

    pub(crate) fn run(mut self) {
        loop {
            let (begun, kept_ns) = (Instant::now(), self.board.kept_ns());
            let mut views = self.board.new_views(|view| !is_live(view, true, kept_ns));
            if views.is_empty() && self.pace.is_free(begun) {
                views = self.board.due_views(begun, |view| !is_live(view, true, kept_ns));
            }
            // One at a time: the next look may find one that shows nothing yet.
            match views.first() {
                Some(view) => self.render(view, begun),
                None => thread::sleep(POLL),
            }
        }
    }

    fn render(&mut self, view: &View, begun: Instant) {
        let shown = self.shown(view);
        // It read hours, perhaps.
        memory::give_back();
        let ended = Instant::now();
        self.pace.worked(ended.saturating_duration_since(begun), ended);
        self.board.show(view, shown, 0, Some(ended + AGAIN));
    }

    fn shown(&self, view: &View) -> Shown {
        let newest = self.board.end().unwrap_or_else(&*self.clock);
        let (from, to) = match view.span {
            Span::Last(length_ns) => (Some(Time(newest.0.saturating_sub(length_ns))), None),
            Span::Fixed(from, to) => (from, to),
        };
        let report = report::of(&self.root, &self.title, view.scope(from, to), &self.names, None);
        match report {
            Ok(report) => {
                let until = to.or_else(|| report.span_ns().map(|(_, end_ns)| Time(end_ns)));
                render::shown(view, report, until, None)
            }
            Err(error) => render::failed(error.to_string()),
        }
    }
}
