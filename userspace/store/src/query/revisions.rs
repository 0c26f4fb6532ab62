//! Which windows of the mesh were analyzed more than once.

use super::TimeRange;
use crate::{Error, Scan};
use rocescope_model::{Revisions, SlaRow};

impl Scan {
    /// Reads the latest analysis of each window in this time from `sla`, which the query of this scan must include.
    ///
    /// # Errors
    /// The operating system refuses to read a segment. Damaged ones are skipped: see [`Scan::damaged`].
    pub fn revisions(&self, time: TimeRange) -> Result<Revisions, Error> {
        let mut revisions = Revisions::default();
        let rows = self.select::<SlaRow>().within(time);
        rows.for_each(|row| revisions.note(&row))?;
        Ok(revisions)
    }
}
