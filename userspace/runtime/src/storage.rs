//! What a dataset that grows is opened with: where, when segments are sealed, and which are deleted.

use crate::dataset::Dataset;
use crate::not_stored::NotStored;
use crate::reserve::Reserve;
use crate::retention::{KeepRollups, Retention};
use crate::status;
use rocescope_store::{Error, Options};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A dataset that grows.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Its directory.
    pub root: PathBuf,
    /// Seal a segment when its first rows are older.
    pub segment_age: Duration,
    /// Delete segments whose hour ended longer ago.
    pub keep_age: Option<Duration>,
    /// Delete the oldest segments above this total.
    pub keep_bytes: Option<u64>,
    /// The rollups; `None` for none.
    pub keep_rollups: Option<KeepRollups>,
    /// How much of the file system stays free; `None` for the default of [`Reserve::new`].
    pub keep_free: Option<u64>,
}

impl Storage {
    /// Which segments are deleted.
    #[must_use]
    pub fn retention(&self) -> Retention {
        Retention {
            root: self.root.clone(),
            age: self.keep_age,
            bytes: self.keep_bytes,
            ..Retention::default()
        }
        .with_rollups(self.keep_rollups.as_ref())
    }

    /// Opens it to write to, and what it counts when the disk is full or fails; reports damage of an earlier run.
    ///
    /// # Errors
    /// Those of [`Dataset::open`].
    pub fn open(&self, options: Options) -> Result<(Dataset, Arc<NotStored>), Error> {
        let options = Options {
            max_age: self.segment_age,
            ..options
        };
        let reserve = Reserve::new(&self.root, self.keep_free);
        let dataset = Dataset::open(options, self.retention(), Some(reserve))?;
        dataset.report_damage(&status::notice);
        let not_stored = dataset.not_stored();
        Ok((dataset, not_stored))
    }
}
