//! Faults of hosts that were stored as begun or ended, by this collector or an earlier one.

use rocescope_diagnose::hosts::{Change, HostVerdict};
use rocescope_model::{HostVerdictRow, Row, Text, Time};
use rocescope_store::{Error, Query, TimeRange};
use std::ops::Range;
use std::path::Path;

/// How far back begins of faults are read.
const BACK_NS: i64 = 7 * 86_400_000_000_000;
/// Faults that ended before this are known no longer: windows are analyzed again for an hour.
const KEPT_NS: i64 = 2 * 3_600_000_000_000;

/// The latest row of each fault: those that continue, and those that have ended in the last hours.
#[derive(Debug, Default)]
pub(super) struct Reported(Vec<HostVerdictRow>);

/// What a later analysis found.
#[derive(Debug)]
pub(super) struct Found {
    /// The time that was analyzed again.
    pub(super) time: Range<i64>,
    /// What began and ended in it, each with the end of its window.
    pub(super) changes: Vec<(HostVerdict, i64)>,
    /// What continues at its end.
    pub(super) open: Vec<HostVerdict>,
}

/// What a later analysis changes.
#[derive(Debug, Default)]
pub(super) struct Revision {
    /// The rows to store.
    pub(super) rows: Vec<HostVerdictRow>,
    /// Faults that no row reported.
    pub(super) found: Vec<HostVerdictRow>,
    /// Reported ones that do not hold.
    pub(super) gone: Vec<HostVerdictRow>,
}

impl Reported {
    /// Those of a dataset that this analyzer wrote.
    pub(super) fn read(dataset: &Path, observer: &Text, now_ns: i64) -> Result<Self, Error> {
        let since = TimeRange::since(Time(now_ns.saturating_sub(BACK_NS)));
        let query = Query::default().tables(&[HostVerdictRow::TABLE]).within(since);
        let mut rows: Vec<HostVerdictRow> = Vec::new();
        query.scan(dataset)?.select::<HostVerdictRow>().for_each(|row| {
            if row.observer == *observer {
                rows.push(row);
            }
        })?;
        // Stable: of two rows of a window the later one was written later.
        rows.sort_by_key(|row| (row.revision, row.time_ns));
        let mut all = Self::default();
        for row in rows {
            all.set(row);
        }
        // A collector that was killed wrote no end: the same fault may have begun again since.
        let rows = all.0.clone();
        let is_last = |row: &HostVerdictRow| {
            !rows
                .iter()
                .any(|other| is_at(other, row) && other.time_ns > row.time_ns)
        };
        all.0
            .retain(|row| &*row.state != HostVerdictRow::WITHDRAWN && (!is_open(row) || is_last(row)));
        all.forget(now_ns);
        Ok(all)
    }

    /// Replaces the row of the same fault.
    fn set(&mut self, row: HostVerdictRow) {
        let is_same = |known: &&mut HostVerdictRow| is_at(known, &row) && known.since_ns == row.since_ns;
        match self.0.iter_mut().find(is_same) {
            Some(known) => *known = row,
            None => self.0.push(row),
        }
    }

    /// The fault of this class and place that continues.
    pub(super) fn open(&self, verdict: &HostVerdict) -> Option<&HostVerdictRow> {
        self.0.iter().find(|row| is_open(row) && is_of(row, verdict))
    }

    /// Notes a row before it is stored. The row of an end gets the begin that was stored: rows with another one are
    /// those of another fault.
    pub(super) fn note(&mut self, row: &mut HostVerdictRow) {
        let known = self.0.iter_mut().find(|known| is_open(known) && is_at(known, row));
        match known {
            Some(known) if !is_open(row) => {
                (row.since_ns, row.revision) = (known.since_ns, known.revision);
                *known = row.clone();
            }
            _ => self.set(row.clone()),
        }
    }

    /// Ends those that are not open; returns the rows of their ends.
    pub(super) fn end_others(&mut self, open: &[HostVerdict], now_ns: i64) -> Vec<HostVerdictRow> {
        let mut ends = Vec::new();
        for row in self.0.iter_mut().filter(|row| is_open(row)) {
            if !open.iter().any(|verdict| is_of(row, verdict)) {
                row.state = Change::Ended.name().into();
                (row.time, row.time_ns) = (Time(now_ns), now_ns);
                row.unknown = Some("when it ended: no collector ran".into());
                ends.push(row.clone());
            }
        }
        ends
    }

    /// Forgets those that ended long before a time.
    pub(super) fn forget(&mut self, now_ns: i64) {
        self.0
            .retain(|row| is_open(row) || row.until_ns >= now_ns.saturating_sub(KEPT_NS));
    }

    /// Compares what a later analysis found with what was reported; `open` is what continues by the rows that came in
    /// time.
    ///
    /// - A fault that was reported keeps its begin, which may be before the windows that the later analysis has read,
    ///   and its end; its verdict changes with its confidence.
    /// - A fault that continues is not withdrawn.
    pub(super) fn revise(&mut self, found: &Found, open: &[HostVerdict], observer: &Text) -> Revision {
        let mut revision = Revision::default();
        for (at, (verdict, end_ns)) in found.changes.iter().enumerate() {
            if verdict.state != Change::Began {
                continue;
            }
            let later = found.changes.iter().skip(at).map(|(later, end_ns)| (later, *end_ns));
            let end = later
                .filter(|(later, _)| later.state == Change::Ended)
                .find(|(later, _)| later.class == verdict.class && later.place == verdict.place);
            let last_ns = end.map_or(i64::MAX, |(end, _)| end.until_ns);
            let known = self.0.iter_mut().find(|row| {
                is_of(row, verdict) && row.since_ns <= last_ns && (is_open(row) || row.until_ns >= verdict.since_ns)
            });
            let mut began = verdict.row(observer, *end_ns);
            if let Some(known) = known {
                if known.confidence != began.confidence {
                    began = HostVerdictRow {
                        state: known.state.clone(),
                        time: known.time,
                        time_ns: known.time_ns,
                        since_ns: known.since_ns,
                        until_ns: known.until_ns,
                        windows: known.windows,
                        revision: next(known.revision),
                        ..began
                    };
                    *known = began.clone();
                    revision.rows.push(began);
                }
                continue;
            }
            began.revision = next(None);
            revision.rows.push(began.clone());
            revision.found.push(began.clone());
            let is_still_open = open.iter().any(|open| is_of(&began, open));
            let mut last = began;
            if !is_still_open {
                let (row, time_ns) = match end {
                    Some((end, end_ns)) => (end.row(observer, end_ns), end_ns),
                    None => (last.clone(), found.time.end),
                };
                let unknown = end.is_none().then(|| "when it ended: its rows came late".into());
                last = HostVerdictRow {
                    state: Change::Ended.name().into(),
                    time: Time(time_ns),
                    time_ns,
                    since_ns: last.since_ns,
                    revision: last.revision,
                    unknown: unknown.or(row.unknown.clone()),
                    ..row
                };
                revision.rows.push(last.clone());
            }
            self.set(last);
        }
        self.withdraw(found, open, &mut revision);
        revision
    }

    /// Withdraws what was reported as begun in a time, and what a later analysis of it does not show.
    fn withdraw(&mut self, found: &Found, open: &[HostVerdict], revision: &mut Revision) {
        let all = || {
            found
                .changes
                .iter()
                .map(|(verdict, _)| verdict)
                .chain(&found.open)
                .chain(open)
        };
        self.0.retain(|row| {
            if !found.time.contains(&row.since_ns) || all().any(|verdict| is_of(row, verdict)) {
                return true;
            }
            let withdrawn = HostVerdictRow {
                state: HostVerdictRow::WITHDRAWN.into(),
                revision: next(row.revision),
                ..row.clone()
            };
            revision.rows.push(withdrawn.clone());
            revision.gone.push(withdrawn);
            false
        });
    }
}

fn next(revision: Option<u32>) -> Option<u32> {
    Some(revision.unwrap_or(0).saturating_add(1))
}

fn is_open(row: &HostVerdictRow) -> bool {
    &*row.state == Change::Began.name()
}

fn is_of(row: &HostVerdictRow, verdict: &HostVerdict) -> bool {
    &*row.class == verdict.class.name() && *row.place == *verdict.place
}

fn is_at(row: &HostVerdictRow, other: &HostVerdictRow) -> bool {
    (&row.class, &row.place) == (&other.class, &other.place)
}

#[cfg(test)]
mod tests {
    use super::{Found, Reported};
    use rocescope_diagnose::hosts::{Change, Class, HostVerdict};
    use rocescope_model::Text;
    use std::sync::LazyLock;

    static OBSERVER: LazyLock<Text> = LazyLock::new(|| "collector".into());

    fn verdict(state: Change, since_ns: i64, until_ns: i64, confidence: &str) -> HostVerdict {
        HostVerdict {
            state,
            class: Class::ReceiverDied,
            place_kind: "port",
            place: "gpu-1 mlx5_0/1".into(),
            host: None,
            device: None,
            addresses: Vec::new(),
            port: None,
            src: None,
            dst: None,
            dst_qpn: None,
            since_ns,
            until_ns,
            windows: 1,
            confidence: confidence.into(),
            evidence: Vec::new(),
            unknown: Vec::new(),
            sentence: String::new(),
            action: String::new(),
        }
    }

    /// A fault from 100 to 200 that was reported when it began and when it ended.
    fn reported() -> Reported {
        let mut reported = Reported::default();
        for (state, end_ns) in [(Change::Began, 110), (Change::Ended, 230)] {
            let mut row = verdict(state, 100, 200, "possible").row(&OBSERVER, end_ns);
            reported.note(&mut row);
        }
        reported
    }

    fn found(changes: Vec<(HostVerdict, i64)>) -> Found {
        Found {
            time: 90..300,
            changes,
            open: Vec::new(),
        }
    }

    #[test]
    fn a_fault_that_late_rows_do_not_show_is_withdrawn_once() {
        let mut all = reported();
        let revision = all.revise(&found(Vec::new()), &[], &OBSERVER);
        let [row] = &revision.rows[..] else {
            unreachable!("{:?}", revision.rows)
        };
        assert_eq!((&*row.state, row.since_ns, row.revision), ("withdrawn", 100, Some(1)));
        assert_eq!(revision.gone.len(), 1);
        assert!(all.revise(&found(Vec::new()), &[], &OBSERVER).rows.is_empty());
        // One that continues is not.
        let mut all = reported();
        let open = [verdict(Change::Open, 100, 200, "possible")];
        assert!(all.revise(&found(Vec::new()), &open, &OBSERVER).rows.is_empty());
    }

    #[test]
    fn a_fault_that_late_rows_make_certain_has_a_row_with_its_first_begin() {
        let mut all = reported();
        let same = found(vec![(verdict(Change::Began, 100, 200, "possible"), 110)]);
        assert!(all.revise(&same, &[], &OBSERVER).rows.is_empty());
        let surer = found(vec![(verdict(Change::Began, 90, 200, "certain"), 110)]);
        let revision = all.revise(&surer, &[], &OBSERVER);
        let [row] = &revision.rows[..] else {
            unreachable!("{:?}", revision.rows)
        };
        assert_eq!((&*row.state, &*row.confidence), ("ended", "certain"));
        assert_eq!((row.since_ns, row.revision), (100, Some(1)));
        assert!(revision.found.is_empty() && revision.gone.is_empty());
        assert!(all.revise(&surer, &[], &OBSERVER).rows.is_empty());
    }

    #[test]
    fn a_fault_that_only_late_rows_show_ends_where_they_end() {
        let mut all = Reported::default();
        let late = found(vec![(verdict(Change::Began, 100, 200, "likely"), 110)]);
        let revision = all.revise(&late, &[], &OBSERVER);
        let states: Vec<&str> = revision.rows.iter().map(|row| &*row.state).collect();
        assert_eq!(states, ["began", "ended"]);
        assert!(revision.rows[1].unknown.is_some());
        assert_eq!(revision.found.len(), 1);
        assert!(all.revise(&late, &[], &OBSERVER).rows.is_empty());
    }
}
