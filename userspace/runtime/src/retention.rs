//! Which segments of a dataset are deleted, by age and by size.

use crate::clock;
use crate::reserve::Reserve;
use rocescope_model::Time;
use rocescope_store::{Error, Limits, Retained, retain};
use std::path::PathBuf;
use std::time::Duration;

/// The limits of a dataset; without limits, everything is kept.
#[derive(Debug, Default)]
pub struct Retention {
    /// The dataset.
    pub root: PathBuf,
    /// Delete segments whose hour ended longer ago.
    pub age: Option<Duration>,
    /// Delete the oldest segments above this total.
    pub bytes: Option<u64>,
    /// What has been deleted so far.
    pub gone: Retained,
}

impl Retention {
    /// Deletes segments beyond the limits.
    ///
    /// # Errors
    /// Those of [`retain()`].
    pub fn apply(&mut self) -> Result<(), Error> {
        if self.age.is_none() && self.bytes.is_none() {
            return Ok(());
        }
        self.delete(Limits {
            older_than: self.age.map(before_now),
            max_bytes: self.bytes,
        })
    }

    /// Deletes the oldest segments until the reserve is free, if there are limits.
    ///
    /// # Errors
    /// [`Error::NoSpace`] if the reserve is not free, and those of [`retain()`].
    pub fn make_room(&mut self, reserve: &Reserve) -> Result<(), Error> {
        let missing = reserve.missing_bytes();
        if missing == 0 {
            return Ok(());
        }
        if self.age.is_some() || self.bytes.is_some() {
            let all = retain(&self.root, Limits::default())?.kept_bytes;
            self.delete(Limits {
                older_than: None,
                max_bytes: Some(all.saturating_sub(missing)),
            })?;
        }
        match reserve.missing_bytes() {
            0 => Ok(()),
            _ => Err(reserve.error()),
        }
    }

    fn delete(&mut self, limits: Limits) -> Result<(), Error> {
        let gone = retain(&self.root, limits)?;
        self.gone.deleted_segments += gone.deleted_segments;
        self.gone.deleted_bytes += gone.deleted_bytes;
        self.gone.kept_bytes = gone.kept_bytes;
        self.gone.waiting_segments = gone.waiting_segments;
        Ok(())
    }
}

/// The time `age` ago.
fn before_now(age: Duration) -> Time {
    let age_ns = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    Time(clock::now().0.saturating_sub(age_ns).max(0))
}
