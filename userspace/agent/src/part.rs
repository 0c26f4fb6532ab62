//! The contract of a part, and the parts of an agent.
//!
//! A part is opened while the process has privileges. After that:
//!
//! 1. [`start`](Part::start) begins to make rows, in a thread of the part, until the end;
//! 2. [`reconfigure`](Part::reconfigure) takes effect while it runs, and nothing is lost;
//! 3. [`end`](Part::end) joins the thread, after which no row comes any more, and reports in a line what the part did. A
//!    thread that panicked is an error there.

use crate::error::Result;
use crate::settings::Settings;
use rocescope_model::Cells;
use std::fmt;
use std::sync::Arc;

/// Takes the rows of all parts, from any thread.
#[derive(Clone)]
pub struct Rows(Arc<Take>);

/// Takes the rows of a table.
type Take = dyn Fn(&dyn Cells) + Send + Sync;

impl Rows {
    /// Passes rows to `take`.
    pub fn to(take: impl Fn(&dyn Cells) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Passes on the rows of a table.
    pub fn append(&self, rows: &dyn Cells) {
        if rows.rows() > 0 {
            (self.0)(rows);
        }
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rows")
    }
}

/// A part of an agent.
pub trait Part {
    /// Starts to make rows.
    ///
    /// # Errors
    /// Its thread cannot be started.
    fn start(&mut self, rows: Rows) -> Result<()>;

    /// Takes what of `settings` is its own.
    fn reconfigure(&mut self, settings: &Settings);

    /// Ends it; what it did, in a line.
    ///
    /// # Errors
    /// Its thread failed.
    fn end(&mut self) -> Result<String>;
}

/// The parts of an agent.
#[derive(Default)]
pub struct Parts(Vec<Box<dyn Part>>);

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts", self.0.len())
    }
}

impl Parts {
    /// Adds a part, which is open.
    pub fn add(&mut self, part: impl Part + 'static) {
        self.0.push(Box::new(part));
    }

    /// Starts all of them.
    ///
    /// # Errors
    /// That of the first that does not start.
    pub fn start(&mut self, rows: &Rows) -> Result<()> {
        self.0.iter_mut().try_for_each(|part| part.start(rows.clone()))
    }

    /// Passes settings to all of them.
    pub fn reconfigure(&mut self, settings: &Settings) {
        self.0.iter_mut().for_each(|part| part.reconfigure(settings));
    }

    /// Ends all of them, in the order in which they were added, and returns a line of each. A part that failed does not
    /// keep the others from ending.
    ///
    /// # Errors
    /// That of the first part that failed.
    pub fn end(&mut self) -> Result<Vec<String>> {
        let ended: Vec<Result<String>> = self.0.iter_mut().map(|part| part.end()).collect();
        ended.into_iter().collect()
    }
}
