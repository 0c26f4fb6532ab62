//! Windows of which rows came after their analysis: they are analyzed again once the rows have stopped coming.
//!
//! An agent that could not reach the collector sends the rows of that time when it is back.

use super::again::{Message, Revised, Task};
use rocescope_collector::server::Rows;
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_engine::metrics::Diagnosed;
use rocescope_model::human::visible;
use rocescope_model::{Time, VerdictRow};
use rocescope_runtime::status;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Windows that ended longer ago are not analyzed again: one hour at 20 s a window.
const MAX_WINDOWS: i64 = 180;
/// While rows never stop coming, windows wait this long, in windows: ten minutes at 20 s a window.
const MAX_WAIT: u32 = 30;
/// Rows are sealed a bit later than their age requires.
const SEALED: Duration = Duration::from_secs(1);
/// Rows of the analysis that are passed on at once.
const MAX_ROWS: usize = 10_000;

/// Which windows wait, and the thread that analyzes others.
pub(super) struct Late {
    task: Arc<Task>,
    /// How long no row may come: by then they are sealed, and so are those of the analysis before.
    pause: Duration,
    quiet: bool,
    diagnosed: Diagnosed,
    /// Starts of windows, and when the last row of each came.
    waiting: BTreeMap<i64, Instant>,
    /// Since when windows wait.
    since: Option<Instant>,
    /// When the last row came.
    last: Option<Instant>,
    /// When the last thread ended.
    ended: Instant,
    running: Option<Receiver<Message>>,
    /// The windows of the thread that it has not reported.
    current: BTreeSet<i64>,
    /// The number of the latest analysis of each recent window, if this process made it.
    made: BTreeMap<i64, u32>,
    /// Windows before the start of this process may lack rows that an earlier one received: from when to when.
    unchecked: Option<(i64, i64)>,
    /// The same while the thread looks for them.
    checking: Option<(i64, i64)>,
    changes: Vec<Change>,
}

/// A verdict that windows in a row have gained or lost.
struct Change {
    verdict: VerdictRow,
    is_found: bool,
    until_ns: i64,
}

impl Late {
    /// Looks first for rows that an earlier collector received: those of windows that end before `analyzed`.
    pub(super) fn new(task: Task, segment_age: Duration, quiet: bool, diagnosed: Diagnosed, analyzed: Time) -> Self {
        let window_ns = task.settings.window_ns;
        let until_ns = analyzed.0 - analyzed.0.rem_euclid(window_ns);
        let wait = MAX_WINDOWS + i64::from(MAX_WAIT);
        Self {
            task: Arc::new(task),
            pause: segment_age + SEALED,
            quiet,
            diagnosed,
            waiting: BTreeMap::new(),
            since: None,
            last: None,
            // The first analyses of this process are sealed by then.
            ended: Instant::now(),
            running: None,
            current: BTreeSet::new(),
            made: BTreeMap::new(),
            unchecked: Some((until_ns - wait * window_ns, until_ns)),
            checking: None,
            changes: Vec::new(),
        }
    }

    /// Notes a window that was analyzed for the first time.
    pub(super) fn analyzed(&mut self, start_ns: i64) {
        self.made.insert(start_ns, 0);
        let wait = MAX_WINDOWS + i64::from(MAX_WAIT);
        let oldest = start_ns - wait * self.task.settings.window_ns;
        self.made = self.made.split_off(&oldest);
    }

    /// Notes windows of which rows came late. The watermark is the end of the last window that is analyzed.
    pub(super) fn note(&mut self, starts: impl Iterator<Item = Time>, watermark: Time) {
        let now = Instant::now();
        let oldest = watermark.0 - (MAX_WINDOWS + 1) * self.task.settings.window_ns;
        for start in starts.filter(|start| (oldest..watermark.0).contains(&start.0)) {
            self.wait(start.0, now);
            self.last = Some(now);
        }
    }

    fn wait(&mut self, start_ns: i64, since: Instant) {
        self.waiting.insert(start_ns, since);
        self.since.get_or_insert(since);
    }

    /// Returns rows of windows that were analyzed again; starts the thread when windows are due.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Rows> {
        let mut rows = Vec::new();
        match self.running.take() {
            Some(running) => self.receive(running, now, &mut rows),
            None if now.duration_since(self.ended) >= self.pause => self.start(now),
            None => {}
        }
        rows
    }

    fn start(&mut self, now: Instant) {
        if let Some((from_ns, until_ns)) = self.unchecked.take() {
            self.checking = Some((from_ns, until_ns));
            let task = Arc::clone(&self.task);
            self.spawn(move |send| task.find(from_ns, until_ns, &send));
            return;
        }
        let passed = |since: Option<Instant>| since.is_none_or(|since| now.duration_since(since) >= self.pause);
        let window = Duration::from_nanos(self.task.settings.window_ns.unsigned_abs());
        let has_waited = self
            .since
            .is_some_and(|since| now.duration_since(since) >= window * MAX_WAIT);
        if self.waiting.is_empty() || !(passed(self.last) || has_waited) {
            return;
        }
        let is_quiet = |_: &i64, last: &mut Instant| now.duration_since(*last) >= self.pause;
        let windows: BTreeMap<i64, Option<u32>> = self
            .waiting
            .extract_if(.., is_quiet)
            .map(|(start, _)| (start, self.made.get(&start).copied()))
            .collect();
        self.since = (!self.waiting.is_empty()).then_some(now);
        if windows.is_empty() {
            return;
        }
        self.current = windows.keys().copied().collect();
        let task = Arc::clone(&self.task);
        self.spawn(move |send| task.analyze(windows, &send));
    }

    fn spawn(&mut self, work: impl FnOnce(std::sync::mpsc::SyncSender<Message>) + Send + 'static) {
        let (send, receive) = sync_channel(1);
        let thread = thread::Builder::new().name("late rows".into());
        match thread.spawn(move || work(send)) {
            Ok(_) => self.running = Some(receive),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    fn receive(&mut self, running: Receiver<Message>, now: Instant, rows: &mut Vec<Rows>) {
        let mut size = 0;
        while size < MAX_ROWS {
            match running.try_recv() {
                Ok(Message::Revised(revised)) => size += self.take(*revised, rows),
                Ok(Message::Lacking(windows)) => {
                    self.checking = None;
                    windows.into_iter().for_each(|start| self.wait(start, now));
                }
                Ok(Message::Unsealed(start)) => {
                    self.current.remove(&start);
                    self.wait(start, now);
                }
                Ok(Message::Failed(why)) => self.fail(&why),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.ended = now;
                    self.current.clear();
                    self.report();
                    return;
                }
            }
        }
        self.running = Some(running);
    }

    /// Takes the rows of a window; returns their number.
    fn take(&mut self, revised: Revised, rows: &mut Vec<Rows>) -> usize {
        let Revised {
            start_ns,
            revision,
            changes,
            rows: of_window,
        } = revised;
        self.current.remove(&start_ns);
        self.made.insert(start_ns, revision);
        self.diagnosed.add_revised();
        for (verdicts, is_found) in [(changes.found, true), (changes.gone, false)] {
            verdicts.into_iter().for_each(|verdict| self.change(verdict, is_found));
        }
        let size = of_window.iter().map(|cells| cells.rows()).sum();
        rows.extend(of_window);
        size
    }

    fn change(&mut self, verdict: VerdictRow, is_found: bool) {
        let end_ns = verdict.window_start_ns.saturating_add(verdict.window_ns);
        let is_same = |known: &&mut Change| {
            let before = &known.verdict;
            known.is_found == is_found && (&before.symptom, &before.place) == (&verdict.symptom, &verdict.place)
        };
        match self.changes.iter_mut().find(is_same) {
            Some(known) => known.until_ns = end_ns,
            None => self.changes.push(Change {
                verdict,
                is_found,
                until_ns: end_ns,
            }),
        }
    }

    /// Prints what changed since the last report.
    fn report(&mut self) {
        for Change {
            verdict,
            is_found,
            until_ns,
        } in std::mem::take(&mut self.changes)
        {
            let mut span = format!("{:.0}", Time(verdict.window_start_ns));
            if until_ns > verdict.window_start_ns.saturating_add(verdict.window_ns) {
                span += &format!(" to {:.0}", Time(until_ns));
            }
            if is_found {
                let sentence = visible(&verdict.sentence);
                status!("{span}  found in rows that came late: {}: {sentence}", verdict.class);
                let since = Time(verdict.since_ns);
                status!("    since {since:.0}; {}", evidence(&verdict, verdict.score));
                status!("    do: {}", verdict.action);
            } else if !self.quiet {
                let place = visible(&verdict.place);
                status!(
                    "{span}  no longer holds, rows came late: {} at {place}",
                    verdict.symptom
                );
            }
        }
    }

    /// The windows of the thread wait for another one.
    fn fail(&mut self, why: &str) {
        status!("cannot analyze late rows, tries again: {why}");
        let now = Instant::now();
        self.ended = now;
        self.unchecked = self.checking.take();
        for start in std::mem::take(&mut self.current) {
            self.wait(start, now);
        }
    }
}
