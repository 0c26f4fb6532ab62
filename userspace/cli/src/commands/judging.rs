//! Judges the rows of a capture while it runs, and reports which incidents opened, changed and closed.

use rocescope_diagnose::incidents::changes::Changes;
use rocescope_diagnose::incidents::{Captured, Document};
use rocescope_engine::intake::Tap;
use rocescope_model::hosts::Hosts;
use rocescope_model::{WindowRows, json};
use rocescope_runtime::hook::Hook;
use rocescope_runtime::status;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Event time between two looks at what changed.
const LOOK_NS: i64 = 10_000_000_000;

/// What is reported of a capture while it runs.
#[derive(Debug, Default)]
pub(super) struct Reporting {
    /// Whether changes are status lines.
    pub(super) lines: bool,
    /// The command that gets each change.
    pub(super) command: Option<String>,
}

/// Judges the rows of a capture.
pub(super) struct Judging {
    captured: Captured,
    names: Hosts,
    reporting: Reporting,
    changes: Changes,
    /// Opened with the first change: by then the capture has dropped its privileges.
    hook: Option<Hook>,
    next_ns: i64,
}

/// Judges rows before a tap passes them on.
pub(super) fn judging(names: &Hosts, reporting: Reporting, mut next: Option<Tap>) -> (Tap, Rc<RefCell<Judging>>) {
    let judging = Judging {
        captured: Captured::default().with(names),
        names: names.clone(),
        reporting,
        changes: Changes::default(),
        hook: None,
        next_ns: i64::MIN,
    };
    let judging = Rc::new(RefCell::new(judging));
    let judge = Rc::clone(&judging);
    let tap: Tap = Box::new(move |rows| {
        judge.borrow_mut().rows(rows);
        next.as_mut().map_or(ControlFlow::Continue(()), |next| next(rows))
    });
    (tap, judging)
}

impl Judging {
    fn rows(&mut self, rows: &WindowRows) {
        self.captured.rows(rows);
        let is_reported = self.reporting.lines || self.reporting.command.is_some();
        let newest = rows.windows.iter().map(|row| row.window_start_ns).max();
        if let Some(newest) = newest.filter(|newest| is_reported && *newest >= self.next_ns) {
            self.next_ns = newest.saturating_add(LOOK_NS);
            let now = self.captured.current();
            self.report(&now);
        }
    }

    fn report(&mut self, now: &Document) {
        for change in self.changes.since_last(now) {
            if self.reporting.lines {
                status!("{}", self.names.text(&change.to_string()));
            }
            let Some(command) = &self.reporting.command else {
                continue;
            };
            if self.hook.is_none() {
                match Hook::open(command) {
                    Ok(hook) => self.hook = Some(hook),
                    Err(error) => status!("rocescope: warning: --on-incident: {error}"),
                }
            }
            if let Some(hook) = &self.hook {
                hook.send(self.names.json(&(json::compact(&change) + "\n")));
            }
        }
    }

    /// The incidents of all rows, after the last one; waits until the command has had what was sent.
    pub(super) fn finish(&mut self) -> Document {
        let document = self.captured.document();
        if self.reporting.lines || self.reporting.command.is_some() {
            self.report(&document);
        }
        if let Some(problem) = self.hook.take().and_then(Hook::end) {
            status!("rocescope: warning: {problem}");
        }
        document
    }
}
