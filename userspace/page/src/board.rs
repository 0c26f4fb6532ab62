//! Views, their viewers, and what they show: each view is rendered once for all of its viewers.

use crate::render::Shown;
use crate::view::View;
use rocescope_model::Time;
use rocescope_report::html::page::Asked;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Views in memory. A viewer of one more waits until another is forgotten.
const MAX_VIEWS: usize = 32;
/// How long a view that no one looks at is kept.
const FORGET: Duration = Duration::from_secs(60);

/// A view and its viewers.
struct Entry {
    view: Arc<View>,
    shown: watch::Sender<Option<Arc<Shown>>>,
    /// When it was asked for last.
    asked: Instant,
    /// When it may be rendered again; with every new row, if it is not stated.
    due: Option<Instant>,
    /// The rows that it was rendered from.
    rows: u64,
}

/// What all threads of the page share.
#[derive(Default)]
pub(crate) struct Board {
    views: Mutex<HashMap<Asked, Entry>>,
    /// The end of the newest window in memory, and the time from which rows are in memory; 0 if none are.
    end_ns: AtomicI64,
    begin_ns: AtomicI64,
    /// Whether rows came lately: then a page shows the last minute by default.
    has_new_rows: AtomicBool,
    /// How often rows arrived.
    rows: AtomicU64,
    /// Views that were refused because there are too many.
    refused: AtomicU64,
    /// Batches of rows that could not be read.
    pub(crate) unread: AtomicU64,
}

impl Board {
    fn views(&self) -> MutexGuard<'_, HashMap<Asked, Entry>> {
        // Entries are inserted and removed whole.
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a view shows, now and later; `None` if there are too many views.
    pub(crate) fn watch(&self, view: &View, now: Instant) -> Option<watch::Receiver<Option<Arc<Shown>>>> {
        let mut views = self.views();
        if let Some(entry) = views.get_mut(&view.asked) {
            entry.asked = now;
            // A time relative to now is another one now.
            if entry.view.span != view.span {
                entry.view = Arc::new(view.clone());
            }
            let is_old = match entry.due {
                Some(due) => due <= now,
                None => entry.rows < self.rows.load(Ordering::Relaxed),
            };
            // No one looked at it, and so it was not rendered again.
            if is_old && entry.shown.receiver_count() == 0 {
                entry.shown.send_replace(None);
            }
            return Some(entry.shown.subscribe());
        }
        forget(&mut views, now, FORGET);
        if views.len() >= MAX_VIEWS {
            // Those that no one looks at now may be wanted again, but this one is.
            forget(&mut views, now, Duration::ZERO);
        }
        if views.len() >= MAX_VIEWS {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (shown, receiver) = watch::channel(None);
        let entry = Entry {
            view: Arc::new(view.clone()),
            shown,
            asked: now,
            due: None,
            rows: 0,
        };
        views.insert(view.asked.clone(), entry);
        Some(receiver)
    }

    /// The views that a thread renders and that show nothing yet.
    pub(crate) fn new_views(&self, is_mine: impl Fn(&View) -> bool) -> Vec<Arc<View>> {
        let views = self.views();
        let new = views
            .values()
            .filter(|entry| entry.shown.borrow().is_none() && is_mine(&entry.view));
        new.map(|entry| Arc::clone(&entry.view)).collect()
    }

    /// The views that a thread renders, that are due and that someone looks at.
    pub(crate) fn due_views(&self, now: Instant, is_mine: impl Fn(&View) -> bool) -> Vec<Arc<View>> {
        let mut views = self.views();
        forget(&mut views, now, FORGET);
        let due = views.values().filter(|entry| {
            let is_due = entry.due.is_none_or(|due| due <= now);
            is_due && entry.shown.receiver_count() > 0 && is_mine(&entry.view)
        });
        due.map(|entry| Arc::clone(&entry.view)).collect()
    }

    /// Returns how often rows arrived.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Notes that rows arrived.
    pub(crate) fn rows_came(&self) {
        self.rows.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows this, which was rendered from these rows, to the viewers of a view; it is rendered again at `due` at the earliest.
    pub(crate) fn show(&self, view: &View, shown: Shown, rows: u64, due: Option<Instant>) {
        if let Some(entry) = self.views().get_mut(&view.asked) {
            entry.due = due;
            entry.rows = rows;
            entry.shown.send_replace(Some(Arc::new(shown)));
        }
    }

    /// Notes the time of the rows in memory.
    pub(crate) fn rows_of(&self, begin: Time, end: Option<Time>, has_new_rows: bool) {
        self.begin_ns.store(begin.0, Ordering::Relaxed);
        self.end_ns.store(end.map_or(0, |end| end.0), Ordering::Relaxed);
        self.has_new_rows.store(has_new_rows, Ordering::Relaxed);
    }

    /// The end of the newest window in memory.
    pub(crate) fn end(&self) -> Option<Time> {
        let end_ns = self.end_ns.load(Ordering::Relaxed);
        (end_ns != 0).then_some(Time(end_ns))
    }

    /// The length of the time whose rows are in memory: all of it until rows were forgotten early.
    pub(crate) fn kept_ns(&self) -> i64 {
        let begin = self.begin_ns.load(Ordering::Relaxed);
        self.end().map_or(i64::MAX, |end| end.0.saturating_sub(begin))
    }

    /// Whether rows came lately.
    pub(crate) fn has_new_rows(&self) -> bool {
        self.has_new_rows.load(Ordering::Relaxed)
    }

    /// The numbers of views, of those who wait for their windows, and of views that were refused.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let views = self.views();
        let viewers = views.values().map(|entry| entry.shown.receiver_count()).sum();
        (views.len(), viewers, self.refused.load(Ordering::Relaxed))
    }
}

fn forget(views: &mut HashMap<Asked, Entry>, now: Instant, after: Duration) {
    views.retain(|_, entry| entry.shown.receiver_count() > 0 || now.saturating_duration_since(entry.asked) < after);
}
