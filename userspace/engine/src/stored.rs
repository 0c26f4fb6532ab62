//! The windows that a dataset already has: a capture file that is stored again would count every packet twice.

use crate::error::{EngineError, Result};
use rocescope_model::{Row, Time, WindowRow, WindowRows};
use rocescope_store::query::SpanReader;
use rocescope_store::{Query, TimeRange};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Windows for which stored rows are read at once: this bounds the memory.
const WINDOWS: i64 = 1_024;

/// Compares windows that are to be stored with those of the same observer that a dataset has.
#[derive(Debug)]
pub(crate) struct Stored {
    root: PathBuf,
    observer: String,
    /// Opened at the first window.
    reader: Option<SpanReader>,
    /// The time of `rows`.
    span_ns: Range<i64>,
    rows: Vec<WindowRow>,
    /// Windows that were not stored before.
    new: u64,
    /// Rows of connections and events, which come before the first window.
    early: WindowRows,
}

impl Stored {
    pub(crate) fn of(root: &Path, observer: &str) -> Self {
        Self {
            root: root.to_owned(),
            observer: observer.to_owned(),
            reader: None,
            span_ns: 0..0,
            rows: Vec::new(),
            new: 0,
            early: WindowRows::default(),
        }
    }

    /// Checks rows before they are stored. Returns what to store before them; `None`: keeps a copy of them, because only
    /// the first window decides.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub(crate) fn admit(&mut self, rows: &WindowRows) -> Result<Option<WindowRows>> {
        rows.windows.iter().try_for_each(|window| self.check(window))?;
        if self.new > 0 {
            return Ok(Some(std::mem::take(&mut self.early)));
        }
        self.early.append(&mut rows.clone());
        Ok(None)
    }

    /// Checks a window before it is stored.
    ///
    /// # Errors
    /// [`EngineError::StoredBefore`] if the dataset has it with the same counts, or the dataset cannot be read.
    fn check(&mut self, window: &WindowRow) -> Result<()> {
        if !self.span_ns.contains(&window.window_start_ns) {
            self.read(window).map_err(EngineError::Store)?;
        }
        if self.rows.iter().any(|row| window.repeats(row)) {
            return Err(EngineError::StoredBefore {
                root: self.root.clone(),
                observer: self.observer.clone(),
                start: Time(window.window_start_ns),
                new: self.new,
            });
        }
        self.new += 1;
        Ok(())
    }

    /// Reads the stored rows from this window on.
    fn read(&mut self, window: &WindowRow) -> Result<(), rocescope_store::Error> {
        let start_ns = window.window_start_ns;
        self.span_ns = start_ns..start_ns.saturating_add(window.window_ns.saturating_mul(WINDOWS));
        let reader = match &mut self.reader {
            Some(reader) => reader,
            reader => {
                let query = Query::default()
                    .tables(&[WindowRow::TABLE])
                    .observers([&*self.observer]);
                // Segments that this capture seals later are not in it.
                let scan = query.within(TimeRange::since(Time(start_ns))).scan(&self.root)?;
                reader.insert(SpanReader::new(scan))
            }
        };
        self.rows = reader.rows(&self.span_ns)?;
        Ok(())
    }
}
