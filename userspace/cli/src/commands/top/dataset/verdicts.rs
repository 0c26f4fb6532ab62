//! The faults of hosts in a dataset, which a collector or `diagnose hosts --write` wrote.

use anyhow::Result;
use rocescope_model::{HostVerdictRow, Row};
use rocescope_store::Query;
use std::collections::HashMap;
use std::path::Path;

/// How long a fault stays on the screen after its end.
const ENDED_NS: i64 = 300_000_000_000;

/// All verdicts, by the time of their rows. There is one row when a fault begins and one when it ends.
#[derive(Debug, Default)]
pub(super) struct HostVerdicts(Vec<HostVerdictRow>);

impl HostVerdicts {
    /// Reads those of the whole dataset: a fault may have begun long before the requested time.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let found = Query::default().tables(&[HostVerdictRow::TABLE]).open(root)?;
        let mut rows = Vec::new();
        found.select::<HostVerdictRow>().for_each(|row| rows.push(row))?;
        Ok(Self::new(rows))
    }

    /// Of rows of one fault, those of the latest analysis count; one that was withdrawn is none.
    fn new(mut rows: Vec<HostVerdictRow>) -> Self {
        let fault = |row: &HostVerdictRow| (row.observer.clone(), row.class.clone(), row.place.clone(), row.since_ns);
        let mut latest = HashMap::new();
        for row in &rows {
            let known = latest.entry(fault(row)).or_insert(row.revision);
            *known = row.revision.max(*known);
        }
        rows.retain(|row| latest.get(&fault(row)) == Some(&row.revision) && &*row.state != HostVerdictRow::WITHDRAWN);
        rows.sort_by_key(|row| row.time_ns);
        Self(rows)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the last one was written.
    pub(super) fn last_ns(&self) -> Option<i64> {
        self.0.last().map(|row| row.time_ns)
    }

    /// The faults of a window, by its end: those that have begun by then and go on, or ended shortly before. A fault is
    /// known some windows after its begin, perhaps after the last window of the dataset; it is shown from its begin.
    pub(super) fn at(&self, end_ns: i64) -> Vec<HostVerdictRow> {
        self.since(end_ns.saturating_sub(ENDED_NS), end_ns)
    }

    /// The faults that go on at an instant, or ended after another one, with what is known of them then.
    pub(super) fn since(&self, from_ns: i64, end_ns: i64) -> Vec<HostVerdictRow> {
        let mut shown: HashMap<_, &HostVerdictRow> = HashMap::new();
        for row in self.0.iter().filter(|row| row.since_ns < end_ns) {
            let fault = (&*row.observer, &*row.class, &*row.place, row.since_ns);
            let is_later = row.time_ns > end_ns;
            let has_ended = &*row.state == "ended" && row.until_ns < end_ns;
            if !is_later || has_ended || !shown.contains_key(&fault) {
                shown.insert(fault, row);
            }
        }
        let is_shown = |row: &&HostVerdictRow| &*row.state != "ended" || row.until_ns > from_ns;
        let mut rows: Vec<HostVerdictRow> = shown.into_values().filter(is_shown).cloned().collect();
        rows.sort_by(|a, b| (b.since_ns, &*a.class, &*a.place).cmp(&(a.since_ns, &*b.class, &*b.place)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Seconds: when the row was written, and from when to when the fault shows itself.
    fn row(written: i64, since: i64, until: i64, state: &'static str, place: &'static str) -> HostVerdictRow {
        HostVerdictRow {
            time_ns: written * SECOND,
            since_ns: since * SECOND,
            until_ns: until * SECOND,
            state: state.into(),
            class: "sick_cable".into(),
            place: place.into(),
            ..HostVerdictRow::default()
        }
    }

    fn at(verdicts: &HostVerdicts, second: i64) -> String {
        let rows = verdicts.at(second * SECOND);
        let states = rows.iter().map(|row| format!("{} {}", row.place, row.state));
        states.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_fault_is_shown_from_its_begin_until_minutes_after_its_end() {
        let verdicts = HostVerdicts(vec![
            row(20, 5, 20, "began", "a"),
            row(30, 15, 30, "began", "b"),
            row(90, 5, 60, "ended", "a"),
        ]);
        assert_eq!(at(&verdicts, 5), "");
        assert_eq!(at(&verdicts, 6), "a began");
        assert_eq!(at(&verdicts, 16), "b began, a began");
        assert_eq!(at(&verdicts, 60), "b began, a began");
        assert_eq!(at(&verdicts, 61), "b began, a ended");
        assert_eq!(at(&verdicts, 359), "b began, a ended");
        assert_eq!(at(&verdicts, 360), "b began");
    }

    #[test]
    fn a_fault_that_a_later_analysis_withdrew_is_not_shown() {
        let mut withdrawn = row(20, 5, 20, HostVerdictRow::WITHDRAWN, "a");
        withdrawn.revision = Some(1);
        let verdicts = HostVerdicts::new(vec![
            withdrawn,
            row(20, 5, 20, "began", "a"),
            row(20, 5, 20, "began", "b"),
        ]);
        assert_eq!(at(&verdicts, 30), "b began");
    }

    #[test]
    fn the_last_state_of_every_fault_of_a_time_is_known() {
        let verdicts = HostVerdicts(vec![
            row(20, 5, 20, "began", "a"),
            row(90, 5, 60, "ended", "a"),
            row(900, 800, 850, "began", "b"),
        ]);
        let since = |from: i64| {
            let rows = verdicts.since(from * SECOND, 1_000 * SECOND);
            let states = rows.iter().map(|row| format!("{} {}", row.place, row.state));
            states.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(at(&verdicts, 1_000), "b began");
        assert_eq!(since(0), "b began, a ended");
        assert_eq!(since(60), "b began");
    }

    /// The analysis has longer windows than the capture: it may end after the last window of the dataset.
    #[test]
    fn the_last_window_shows_a_fault_that_was_known_after_it() {
        let verdicts = HostVerdicts(vec![row(20, 0, 20, "began", "a"), row(20, 0, 20, "open", "a")]);
        assert_eq!(at(&verdicts, 14), "a began");
        assert_eq!(at(&verdicts, 20), "a open");
        assert_eq!(verdicts.last_ns(), Some(20 * SECOND));
    }
}
