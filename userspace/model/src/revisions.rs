//! The latest analysis of each window of the mesh.
//!
//! A window is analyzed again when rows come late. Its rows of the analysis before stay in the dataset, because segments
//! never change; readers leave them out.

use crate::{LinkRow, SlaRow, Text, VerdictRow};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A row of an analysis of a window.
pub trait Revised {
    /// Its analyzer, the start of its window in nanoseconds since 1970, and the number of the analysis.
    fn analysis(&self) -> (&Text, i64, u32);
}

macro_rules! revised {
    ($($row:ty),+) => {
        $(impl Revised for $row {
            fn analysis(&self) -> (&Text, i64, u32) {
                // Earlier versions analyzed each window once.
                (&self.observer, self.window_start_ns, self.revision.unwrap_or(0))
            }
        })+
    };
}

revised!(SlaRow, VerdictRow, LinkRow);

/// The windows that were analyzed more than once, with the number of their latest analysis.
#[derive(Debug, Clone, Default)]
pub struct Revisions(BTreeMap<i64, Vec<(Text, u32)>>);

impl Revisions {
    /// Those that rows of `sla` name. A window with a row in `sla` is complete in the other tables, so an analysis without
    /// one does not count.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a SlaRow>) -> Self {
        let mut revisions = Self::default();
        rows.into_iter().for_each(|row| revisions.note(row));
        revisions
    }

    /// Adds a row of `sla`.
    pub fn note(&mut self, row: &SlaRow) {
        let (observer, start_ns, revision) = row.analysis();
        if revision == 0 {
            return;
        }
        let known = self.0.entry(start_ns).or_default();
        match known.iter_mut().find(|(name, _)| name == observer) {
            Some((_, latest)) => *latest = revision.max(*latest),
            None => known.push((observer.clone(), revision)),
        }
    }

    /// Whether a row is of the latest analysis of its window.
    #[must_use]
    pub fn has(&self, row: &impl Revised) -> bool {
        let (observer, start_ns, revision) = row.analysis();
        let known = self.0.get(&start_ns).into_iter().flatten();
        let latest = known.into_iter().find(|(name, _)| name == observer);
        revision == latest.map_or(0, |(_, latest)| *latest)
    }
}

#[cfg(test)]
mod tests {
    use super::Revisions;
    use crate::{LinkRow, SlaRow, VerdictRow};

    #[test]
    fn only_rows_of_the_latest_analysis_count() {
        let sla = |observer: &'static str, window_start_ns, revision| SlaRow {
            observer: observer.into(),
            window_start_ns,
            revision,
            ..SlaRow::default()
        };
        let rows = [
            sla("a", 0, None),
            sla("a", 20, Some(0)),
            sla("a", 20, Some(2)),
            sla("a", 20, Some(1)),
            sla("b", 20, Some(0)),
        ];
        let revisions = Revisions::of(&rows);
        let latest: alloc::vec::Vec<bool> = rows.iter().map(|row| revisions.has(row)).collect();
        assert_eq!(latest, [true, false, true, false, true]);
        let verdict = |revision| VerdictRow {
            observer: "a".into(),
            window_start_ns: 20,
            revision: Some(revision),
            ..VerdictRow::default()
        };
        // The third analysis has found nothing; the fourth is not complete.
        assert!([0, 1, 3].iter().all(|revision| !revisions.has(&verdict(*revision))));
        assert!(revisions.has(&verdict(2)));
        assert!(revisions.has(&LinkRow {
            observer: "a".into(),
            ..LinkRow::default()
        }));
    }
}
