//! Rows of `probes` and `paths` to the analyzer.
//!
//! Segments lie in hours, those of one host one after another, so an hour of all hosts is read before its
//! windows are analysed: 16 bytes a probe. Two threads decode, this one takes rows in.

use anyhow::{Context, Result};
use rocescope_diagnose::hostmesh::{Analyzer, WindowDiagnosis};
use rocescope_model::{Column, PathRow, ProbeRow, Row, Time};
use rocescope_store::{Scan, Segment};
use std::collections::BTreeSet;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

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
                .collect::<Vec<&Segment>>()
        };
        each::<PathRow>(&of(PathRow::TABLE.name), |row| analyzer.path(row))?;
        let mut last_ns = i64::MIN;
        each::<ProbeRow>(&of(ProbeRow::TABLE.name), |row| {
            last_ns = last_ns.max(row.time_ns);
            analyzer.probe(row);
        })?;
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

/// Threads that decode. Rows are taken from them in turn, so their number decides the order of rows, and
/// with it that of verdicts whose evidence is the same: it is not that of the machine's cores.
const LANES: usize = 2;
/// Batches that a thread may be ahead: some ten megabytes.
const AHEAD: usize = 8;

/// Columns that the analysis does not look at, and that may be null.
const UNREAD: [&str; 5] = [
    "nic_send_ns",
    "nic_receive_ns",
    "app_receive_ns",
    "clock_offset_ns",
    "round_trip_ns",
];

/// Hands on the rows of segments, in an order that depends on nothing else.
fn each<R: Row + Send>(segments: &[&Segment], mut take: impl FnMut(&R)) -> Result<()> {
    thread::scope(|scope| {
        let mut lanes = Vec::new();
        for lane in 0..LANES {
            let (sender, receiver) = sync_channel(AHEAD);
            let own = segments.iter().copied().skip(lane).step_by(LANES);
            thread::Builder::new()
                .spawn_scoped(scope, move || decode::<R>(own, &sender))
                .context("a thread that reads segments")?;
            lanes.push(receiver);
        }
        while !lanes.is_empty() {
            let mut left = Vec::with_capacity(lanes.len());
            for lane in lanes {
                let Ok(rows) = lane.recv() else { continue };
                rows?.iter().for_each(&mut take);
                left.push(lane);
            }
            lanes = left;
        }
        Ok(())
    })
}

/// Reads segments until the end, an error, or until nobody takes the rows.
fn decode<'a, R: Row>(
    segments: impl Iterator<Item = &'a Segment>,
    sender: &SyncSender<Result<Vec<R>>>,
) {
    for segment in segments {
        let read = |column: &Column| !UNREAD.contains(&column.name);
        let batches = match segment.batches(read) {
            Ok(batches) => batches,
            Err(error) => return drop(sender.send(Err(error.into()))),
        };
        for batch in batches {
            let rows = batch.map_err(Into::into).and_then(|batch| {
                let rows = batch.typed::<R>();
                rows.with_context(|| segment.path.display().to_string())
            });
            let is_whole = rows.is_ok();
            if sender.send(rows).is_err() || !is_whole {
                return;
            }
        }
    }
}
