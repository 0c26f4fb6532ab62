//! Stops after an error of the disk, and writes again when it has passed.

use super::Writer;
use crate::Error;
use crate::journal::Journal;
use crate::lock::ObserverLock;
use crate::repair::{close, own_leftovers};
use rocescope_model::{Table, tables};
use std::path::PathBuf;

/// A journal that could not be sealed, and its rows.
#[derive(Debug)]
pub(super) struct Unsealed {
    pub(super) path: PathBuf,
    table: &'static Table,
    rows: u64,
}

impl Unsealed {
    pub(super) fn new(table: &'static Table, journal: &Journal) -> Self {
        Self {
            path: journal.path().to_owned(),
            table,
            rows: journal.position().1,
        }
    }
}

impl Writer {
    /// Writes again after an error of the disk: seals the journals that could not be sealed. Rows of journals that are
    /// gone are counted as lost in the [`Summary`](crate::Summary).
    ///
    /// # Errors
    /// The error goes on, [`Error::Busy`] if another process took the dataset's place over, and the errors of
    /// [`repair`](crate::repair()).
    pub fn resume(&mut self) -> Result<(), Error> {
        if self.stopped.is_none() {
            return Ok(());
        }
        if !self.lock.is_at(&self.root, &self.observer)? {
            // Someone removed the directory: the lock is on a file without a name.
            let lock = ObserverLock::acquire(&self.root, &self.observer)?;
            self.lock = lock.ok_or_else(|| Error::Busy {
                observer: self.observer.as_str().into(),
                root: self.root.clone(),
            })?;
        }
        for leftover in own_leftovers(&self.root, &self.observer)? {
            let closed = close(&leftover)?;
            if let Some((table, sealed)) = tables::find(&leftover.place.table).zip(closed.sealed.as_ref()) {
                self.summary.count(table.name, sealed);
            }
            self.summary.damaged.extend(closed.damaged);
            self.unsealed.retain(|journal| journal.path != leftover.path);
        }
        for gone in std::mem::take(&mut self.unsealed) {
            self.summary.lose(gone.table.name, gone.rows);
        }
        self.stopped = None;
        Ok(())
    }

    pub(super) fn refuse_if_stopped(&self) -> Result<(), Error> {
        self.stopped.as_ref().and_then(Error::of_disk).map_or(Ok(()), Err)
    }

    pub(super) fn stop_if_failed(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &result
            && let Some(error) = error.of_disk()
        {
            self.stopped = Some(error);
            // A journal that cannot be sealed remains for a later repair.
            let _ = self.seal_where(|_, _| true);
        }
        result
    }
}
