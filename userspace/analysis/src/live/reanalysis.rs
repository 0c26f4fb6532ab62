//! Windows of which rows came after their analysis: they are analyzed again once the rows have stopped coming.
//!
//! An agent that could not reach the collector sends the rows of that time when it is back.

use super::reanalyzer::{Message, Reanalyzer, Revised, Sender};
use super::{Notices, Settings, nanos};
use rocescope_collector::server::Rows;
use rocescope_model::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Windows that ended longer ago are not analyzed again.
const OLDEST: Duration = Duration::from_secs(3_600);
/// While rows never stop coming, windows wait this long.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Rows of the analysis that are passed on at once.
const MAX_ROWS: usize = 10_000;

/// Which windows wait, and the thread that analyzes others.
#[derive(Debug)]
pub(super) struct Reanalysis<R: Reanalyzer> {
    reanalyzer: Arc<R>,
    /// How long no row may come: by then they are sealed, and so are those of the analysis before.
    pause: Duration,
    /// [`OLDEST`] and [`MAX_WAIT`], shorter where windows are shorter.
    oldest_ns: i64,
    max_wait: Duration,
    notices: Unprinted,
    /// Starts of windows, and when the last row of each came.
    waiting: BTreeMap<i64, Instant>,
    /// Since when windows wait.
    since: Option<Instant>,
    /// When the last row came.
    last: Option<Instant>,
    /// When the last thread ended.
    ended: Instant,
    running: Option<Receiver<Message<R::Changes>>>,
    /// The windows of the thread that it has not reported.
    current: BTreeSet<i64>,
    /// The number of the latest analysis of each recent window, if this process made it.
    made: BTreeMap<i64, u32>,
    /// Windows before the start of this process may lack rows that an earlier one received: from when to when.
    unchecked: Option<(i64, i64)>,
    /// The same while the thread looks for them.
    checking: Option<(i64, i64)>,
}

struct Unprinted(Notices);

impl std::fmt::Debug for Unprinted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notices")
    }
}

impl<R: Reanalyzer> Reanalysis<R> {
    /// Looks first for rows that an earlier collector received: those of windows that end before `analyzed`.
    pub(super) fn new(reanalyzer: R, settings: &Settings, analyzed: Time) -> Self {
        let window_ns = reanalyzer.window_ns();
        let until_ns = analyzed.0 - analyzed.0.rem_euclid(window_ns);
        let scale = settings.scale.max(1);
        let (oldest_ns, max_wait) = (nanos(OLDEST) / i64::from(scale), MAX_WAIT / u32::from(scale));
        Self {
            reanalyzer: Arc::new(reanalyzer),
            pause: settings.pause(),
            oldest_ns,
            max_wait,
            notices: Unprinted(Arc::clone(&settings.notices)),
            waiting: BTreeMap::new(),
            since: None,
            last: None,
            // The first analyses of this process are sealed by then.
            ended: Instant::now(),
            running: None,
            current: BTreeSet::new(),
            made: BTreeMap::new(),
            unchecked: Some((until_ns - oldest_ns - nanos(max_wait), until_ns)),
            checking: None,
        }
    }

    /// Notes a window that was analyzed for the first time.
    pub(super) fn analyzed(&mut self, start_ns: i64) {
        self.made.insert(start_ns, 0);
        let oldest = start_ns - self.oldest_ns - nanos(self.max_wait);
        self.made = self.made.split_off(&oldest);
    }

    /// Notes windows of which rows came late. The watermark is the end of the last window that is analyzed.
    pub(super) fn note(&mut self, starts: &[Time], watermark: Time) {
        let now = Instant::now();
        let oldest = watermark.0 - self.oldest_ns - self.reanalyzer.window_ns();
        for start in starts.iter().filter(|start| (oldest..watermark.0).contains(&start.0)) {
            self.wait(start.0, now);
            self.last = Some(now);
        }
    }

    fn wait(&mut self, start_ns: i64, since: Instant) {
        self.waiting.insert(start_ns, since);
        self.since.get_or_insert(since);
    }

    /// Adds rows of windows that were analyzed again, and returns what changed, and whether the thread has ended;
    /// starts the thread when windows are due.
    pub(super) fn due(&mut self, now: Instant, rows: &mut Vec<Rows>) -> (Vec<R::Changes>, bool) {
        let mut changes = Vec::new();
        let mut has_ended = false;
        match self.running.take() {
            Some(running) => has_ended = self.receive(running, now, rows, &mut changes),
            None if now.duration_since(self.ended) >= self.pause => self.start(now),
            None => {}
        }
        (changes, has_ended)
    }

    fn start(&mut self, now: Instant) {
        if let Some((from_ns, until_ns)) = self.unchecked.take() {
            self.checking = Some((from_ns, until_ns));
            self.spawn(move |reanalyzer, sender| {
                let windows = reanalyzer.incomplete_windows(from_ns..until_ns)?;
                sender.send(Message::Incomplete(windows))
            });
            return;
        }
        let passed = |since: Option<Instant>| since.is_none_or(|since| now.duration_since(since) >= self.pause);
        let has_waited = self
            .since
            .is_some_and(|since| now.duration_since(since) >= self.max_wait);
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
        self.spawn(move |reanalyzer, sender| reanalyzer.analyze(windows, sender));
    }

    fn spawn(
        &mut self,
        work: impl FnOnce(&R, &Sender<R::Changes>) -> Result<(), super::reanalyzer::Stop> + Send + 'static,
    ) {
        let (send, receive) = sync_channel(1);
        let reanalyzer = Arc::clone(&self.reanalyzer);
        let thread = thread::Builder::new().name("late rows".into());
        match thread.spawn(move || {
            let sender = Sender(send);
            sender.end(work(&reanalyzer, &sender));
        }) {
            Ok(_) => self.running = Some(receive),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Returns whether the thread has ended.
    fn receive(
        &mut self,
        running: Receiver<Message<R::Changes>>,
        now: Instant,
        rows: &mut Vec<Rows>,
        changes: &mut Vec<R::Changes>,
    ) -> bool {
        let mut size = 0;
        while size < MAX_ROWS {
            match running.try_recv() {
                Ok(Message::Revised(revised)) => {
                    let Revised {
                        windows,
                        rows: of_windows,
                        changes: of_analysis,
                    } = *revised;
                    for (start_ns, revision) in windows {
                        self.current.remove(&start_ns);
                        self.made.insert(start_ns, revision);
                    }
                    size += of_windows.iter().map(|cells| cells.rows()).sum::<usize>();
                    rows.extend(of_windows);
                    changes.push(of_analysis);
                }
                Ok(Message::Incomplete(windows)) => {
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
                    return true;
                }
            }
        }
        self.running = Some(running);
        false
    }

    /// The windows of the thread wait for another one.
    fn fail(&mut self, why: &str) {
        (self.notices.0)(&format!("cannot analyze late rows, tries again: {why}"));
        let now = Instant::now();
        self.ended = now;
        self.unchecked = self.checking.take();
        for start in std::mem::take(&mut self.current) {
            self.wait(start, now);
        }
    }
}
