//! Readers take rows of rollups in place of captured ones: each instant once, and to the digit.

use crate::exact::all;
use crate::rows::{START, Shape, end, scratch, window, write};
use rocescope_model::time::{DAY_NS, HOUR_NS, SECOND_NS};
use rocescope_model::{EventRow, FlowRow, Resolution, Row, StepRow, Time, WindowRow};
use rocescope_sketches::random::SplitMix64;
use rocescope_store::rollup::answer::{for_time, of_length, open};
use rocescope_store::{Limits, Options, Query, TimeRange, Writer, retain, scan};
use std::path::Path;
use std::time::Instant;

const SHAPE: Shape = Shape {
    seed: 21,
    windows: 20,
    step: 5_003,
    flows: 6,
};

/// Frames, bytes of flows, and events in a time, captured or up to a resolution.
fn sums(root: &Path, time: TimeRange, coarsest: Option<Resolution>) -> [u64; 3] {
    let query = Query::default().within(time);
    let found = match coarsest {
        Some(coarsest) => open(root, &query, coarsest).unwrap(),
        None => query.open(root).unwrap(),
    };
    let windows: Vec<WindowRow> = found.rows().unwrap();
    let mut starts: Vec<i64> = Vec::new();
    let mut timeline = found.select::<FlowRow>().timeline().unwrap();
    let mut bytes = 0;
    while let Some(start) = timeline.next_ns() {
        starts.push(start);
        bytes += timeline
            .take(start)
            .unwrap()
            .iter()
            .map(|(_, row)| row.frame_bytes)
            .sum::<u64>();
    }
    assert!(starts.is_sorted());
    let mut events = 0;
    found.select::<EventRow>().for_each(|_| events += 1).unwrap();
    [windows.iter().map(|row| row.frames).sum(), bytes, events]
}

fn times() -> Vec<TimeRange> {
    let mut random = SplitMix64::new(4);
    let last = end(SHAPE).0 + HOUR_NS;
    let mut instant = || START - HOUR_NS + (random.bits() % (last - START + HOUR_NS).unsigned_abs()).cast_signed();
    let mut times = vec![TimeRange::default(), TimeRange::since(Time(START + HOUR_NS + 1))];
    for round in 0..7 {
        let (mut from, mut to) = (instant(), instant());
        if round % 3 == 0 {
            (from, to) = (from - from.rem_euclid(HOUR_NS), to - to.rem_euclid(HOUR_NS));
        }
        times.push(TimeRange {
            from: Some(Time(from.min(to))),
            to: Some(Time(from.max(to) + 1)),
        });
    }
    times
}

#[test]
fn sums_over_any_time_are_those_of_the_captured_rows() {
    let root = scratch();
    write(root.path(), SHAPE);
    all(root.path());
    let expected: Vec<[u64; 3]> = times().into_iter().map(|time| sums(root.path(), time, None)).collect();
    for (time, expected) in times().into_iter().zip(&expected) {
        for coarsest in Resolution::ALL {
            assert_eq!(
                sums(root.path(), time, Some(coarsest)),
                *expected,
                "{time:?} {coarsest}"
            );
        }
    }
    let found = open(root.path(), &Query::default(), Resolution::Day).unwrap();
    assert!(found.answered.iter().any(|part| part.resolution == Resolution::Day));
    // Rows that came late are not in a rollup yet: their hour is read as captured.
    let mut writer = Writer::create(root.path(), Options::new("rail1")).unwrap();
    let late = window("rail1", START + HOUR_NS + 77 * SECOND_NS, 5, &mut SplitMix64::new(8));
    writer.append(&late, Instant::now()).unwrap();
    writer.finish().unwrap();
    for time in times() {
        let expected = sums(root.path(), time, None);
        assert_eq!(sums(root.path(), time, Some(Resolution::Day)), expected, "{time:?}");
    }
    // What retention deleted is read from the rollups, for whole windows of them.
    all(root.path());
    let whole = sums(root.path(), TimeRange::default(), None);
    let limits = Limits {
        older_than: Some(Time(START + 20 * HOUR_NS)),
        max_bytes: None,
    };
    retain(root.path(), limits).unwrap();
    assert_ne!(sums(root.path(), TimeRange::default(), None), whole);
    for coarsest in Resolution::ROLLED_UP {
        assert_eq!(
            sums(root.path(), TimeRange::default(), Some(coarsest)),
            whole,
            "{coarsest}"
        );
    }
}

/// A table without rollups is read as captured, for the whole time.
#[test]
fn tables_without_rollups_are_read_as_captured() {
    let root = scratch();
    write(root.path(), SHAPE);
    let mut writer = Writer::create(root.path(), Options::new("rail1")).unwrap();
    let step = |hour: i64| StepRow {
        time: Time(START + hour * HOUR_NS),
        time_ns: START + hour * HOUR_NS,
        host: "h1".into(),
        ..StepRow::default()
    };
    let steps: Vec<StepRow> = (0..3).map(step).collect();
    writer.append_cells(&steps, Instant::now()).unwrap();
    writer.finish().unwrap();
    all(root.path());
    let found = open(root.path(), &Query::default(), Resolution::Hour).unwrap();
    assert_eq!(found.row_count(StepRow::TABLE.name), 3);
    assert_eq!(scan(root.path()).unwrap().row_count(StepRow::TABLE.name), 3);
}

#[test]
fn the_resolution_fits_the_length_of_the_time() {
    let lengths = [HOUR_NS, DAY_NS, 30 * DAY_NS, 2_000 * DAY_NS];
    assert_eq!(lengths.map(of_length), Resolution::ALL);
    let root = scratch();
    write(root.path(), SHAPE);
    let now = end(SHAPE);
    // Without rollups there is nothing to choose.
    assert_eq!(
        for_time(root.path(), TimeRange::default(), now).unwrap(),
        Resolution::Captured
    );
    all(root.path());
    assert_eq!(
        for_time(root.path(), TimeRange::default(), now).unwrap(),
        Resolution::Minute
    );
    let last = TimeRange::since(Time(now.0 - HOUR_NS));
    assert_eq!(for_time(root.path(), last, now).unwrap(), Resolution::Captured);
}
