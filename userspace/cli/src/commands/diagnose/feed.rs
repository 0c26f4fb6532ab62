//! Rows of `probes` and `paths` to the analyzer.
//!
//! Segments lie in hours, those of one host one after another, so an hour of all hosts is read before its
//! windows are analysed: 16 bytes a probe.

use anyhow::{Context, Result};
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::{PathRow, ProbeRow, Row, Time};
use rocescope_store::{Scan, Segment};
use std::collections::BTreeSet;

/// Feeds all hours in order and hands each window on, with the analyzer as it was right after.
pub(super) fn hours(
    found: &Scan,
    analyzer: &mut Analyzer,
    mut take: impl FnMut(&Analyzer, WindowDiagnosis) -> Result<()>,
) -> Result<()> {
    let hours: BTreeSet<&str> = found
        .table(ProbeRow::TABLE.name)
        .map(|segment| segment.partition.as_str())
        .collect();
    for hour in hours {
        let of = |table| {
            found
                .table(table)
                .filter(move |segment| segment.partition == hour)
        };
        for segment in of(PathRow::TABLE.name) {
            each::<PathRow>(segment, |row| analyzer.path(row))?;
        }
        let mut last_ns = i64::MIN;
        for segment in of(ProbeRow::TABLE.name) {
            each::<ProbeRow>(segment, |row| {
                last_ns = last_ns.max(row.time_ns);
                analyzer.probe(row);
            })?;
        }
        // The next hour has nothing from before the last probe's hour; its window may go on there.
        let ended = Time(last_ns)
            .hours()
            .saturating_add(1)
            .saturating_mul(HOUR_NS);
        while let Some(diagnosis) = analyzer.advance_one(Time(ended)) {
            take(analyzer, diagnosis)?;
        }
    }
    while let Some(diagnosis) = analyzer.finish_one() {
        take(analyzer, diagnosis)?;
    }
    Ok(())
}

const HOUR_NS: i64 = 3_600_000_000_000;

fn each<R: Row>(segment: &Segment, mut take: impl FnMut(&R)) -> Result<()> {
    for batch in segment.batches(|_| true)? {
        let rows = batch?.typed::<R>();
        let rows = rows.with_context(|| segment.path.display().to_string())?;
        rows.iter().for_each(&mut take);
    }
    Ok(())
}
