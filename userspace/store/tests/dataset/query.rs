//! Queries read the requested rows, and open no segment that cannot contain one.

use crate::rows::{HOUR_NS, SECOND_NS, START, window};
use rocescope_model::{ConnectionRow, EventRow, FlowRow, OpcodeRow, ProbeRow, Row, Time, WindowRow, WindowRows};
use rocescope_store::query::{LastOfEach, SpanReader, Statistics};
use rocescope_store::{Error, Options, Query, Rows, Scan, TimeRange, Writer, scan};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// First instant of the hour after [`START`].
const EDGE: i64 = START - START.rem_euclid(HOUR_NS) + HOUR_NS;

/// Writes windows with these starts, each sealed separately.
fn write(root: &Path, observer: &'static str, starts: &[i64]) {
    let options = Options {
        max_age: Duration::ZERO,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options).unwrap();
    for start in starts {
        let mut rows = window(start - START);
        let named = |name: &mut rocescope_model::Text| *name = observer.into();
        rows.windows.iter_mut().for_each(|r| named(&mut r.observer));
        rows.flows.iter_mut().for_each(|r| named(&mut r.observer));
        rows.opcodes.iter_mut().for_each(|r| named(&mut r.observer));
        rows.events.iter_mut().for_each(|r| named(&mut r.observer));
        writer.append(&rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
}

fn starts(found: &Scan) -> Vec<i64> {
    let mut starts = Vec::new();
    let rows = found.select::<WindowRow>();
    rows.for_each(|row| starts.push(row.window_start_ns)).unwrap();
    starts
}

/// Earlier and later hours are damaged: opening one of their segments fails.
#[test]
fn a_segment_of_another_hour_or_table_is_never_opened() {
    let root = tempfile::tempdir().unwrap();
    let hours = [EDGE - HOUR_NS, EDGE, EDGE + HOUR_NS];
    write(root.path(), "rail3", &hours);
    let all = scan(root.path()).unwrap();
    assert_eq!(all.statistics.opened(), all.statistics.segments);
    assert_eq!(all.statistics.rows, 21);
    for segment in &all.segments {
        if !segment.partition.ends_with("hour=03") || segment.table != "windows" {
            fs::write(&segment.path, "damaged").unwrap();
        }
    }
    let wanted = TimeRange::from(EDGE..EDGE + HOUR_NS);
    let query = Query::default().tables(&[WindowRow::TABLE]).within(wanted);
    let found = query.open(root.path()).unwrap();
    assert_eq!(found.unreadable, []);
    assert_eq!(starts(&found), [EDGE]);
    let windows = 3;
    let expected = Statistics {
        segments: windows,
        other_hours: 2,
        rows: 1,
        bytes: found.segments[0].bytes,
        ..Statistics::default()
    };
    assert_eq!(found.statistics, expected);
    assert_eq!(found.statistics.opened(), 1);
}

/// Days that end a month before the requested time, or begin after it, are not even listed.
#[test]
fn directories_of_other_months_are_not_entered() {
    let root = tempfile::tempdir().unwrap();
    const DAY_NS: i64 = 24 * HOUR_NS;
    let days = [-60, -20, 0, 1].map(|day| EDGE + day * DAY_NS);
    write(root.path(), "rail3", &days);
    let wanted = TimeRange::from(EDGE..EDGE + HOUR_NS);
    let query = || Query::default().tables(&[WindowRow::TABLE]);
    let found = query().within(wanted).open(root.path()).unwrap();
    assert_eq!((starts(&found), found.statistics.segments), (vec![EDGE], 2));
    // A time without any day is of a dataset all the same.
    let later = TimeRange::since(Time(EDGE + 100 * DAY_NS));
    let found = query().within(later).open(root.path()).unwrap();
    assert_eq!((starts(&found), found.statistics.segments), (vec![], 0));
}

#[test]
fn ranges_at_the_edge_of_an_hour() {
    let root = tempfile::tempdir().unwrap();
    let times = [EDGE - HOUR_NS, EDGE - 1, EDGE, EDGE + HOUR_NS - 1, EDGE + HOUR_NS];
    write(root.path(), "rail3", &times);
    for (from, to, expected) in [
        (EDGE, EDGE + HOUR_NS, &times[2..4]),
        (EDGE, EDGE + HOUR_NS + 1, &times[2..5]),
        (EDGE - 1, EDGE, &times[1..2]),
        (EDGE - 1, EDGE + 1, &times[1..3]),
        (EDGE + 1, EDGE + HOUR_NS - 1, &[]),
    ] {
        let range = TimeRange::from(from..to);
        let found = Query::default().within(range).scan(root.path()).unwrap();
        assert_eq!(starts(&found), expected, "{from}..{to}");
        let all = scan(root.path()).unwrap();
        let mut narrowed = Vec::new();
        let columns = ["window_start_ns", "window_ns"];
        let rows = all.select::<WindowRow>().within(range);
        rows.integers(columns, |[start, length]| narrowed.push((start, length)))
            .unwrap();
        let expected: Vec<_> = expected.iter().map(|&start| (start, SECOND_NS)).collect();
        assert_eq!(narrowed, expected);
    }
    let hour = Query::default().within(TimeRange::from(EDGE..EDGE + HOUR_NS));
    let hour = hour.scan(root.path()).unwrap().statistics;
    assert_eq!(hour.other_times, 0, "whole hours are skipped without opening");
}

#[test]
fn within_an_hour_the_footer_excludes_segments() {
    let root = tempfile::tempdir().unwrap();
    let times: Vec<i64> = (0..5).map(|window| EDGE + window * SECOND_NS).collect();
    write(root.path(), "rail3", &times);
    let range = TimeRange::since(Time(times[3]));
    let query = Query::default().tables(&[FlowRow::TABLE]).within(range);
    let found = query.scan(root.path()).unwrap();
    assert_eq!(found.statistics.other_times, 3);
    assert_eq!(found.select::<FlowRow>().segments().count(), 2);
    assert_eq!(found.statistics.rows, 4);
}

#[test]
fn observers_are_those_of_rows() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "rail3", &[EDGE]);
    write(root.path(), "rail4", &[EDGE]);
    let query = Query::default().tables(&[OpcodeRow::TABLE]);
    let found = query.observers(["rail4"]).open(root.path()).unwrap();
    assert_eq!(found.statistics.other_observers, 1);
    let rows: Vec<OpcodeRow> = found.rows().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| &*row.observer == "rail4"));
    let both = scan(root.path()).unwrap();
    let count = |names: &[&'static str]| {
        let rows = both.select::<OpcodeRow>().observers(names.iter().copied());
        rows.batches().map(|rows| rows.unwrap().len()).sum::<usize>()
    };
    assert_eq!(
        [&[][..], &["rail3"], &["rail3", "rail4"], &["rail5"]].map(count),
        [4, 2, 4, 0]
    );
}

#[test]
fn a_timeline_joins_datasets_window_by_window() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(one.path(), "rail3", &[EDGE - SECOND_NS, EDGE, EDGE + SECOND_NS]);
    write(two.path(), "rail4", &[EDGE, EDGE + 2 * SECOND_NS]);
    let scans = [&one, &two].map(|root| scan(root.path()).unwrap());
    let range = TimeRange::since(Time(EDGE));
    let mut timeline = Rows::<FlowRow>::of(&scans).within(range).timeline().unwrap();
    let mut found = Vec::new();
    while let Some(start) = timeline.next_ns() {
        let rows = timeline.take(start).unwrap();
        found.extend(rows.into_iter().map(|(dataset, row)| {
            assert_eq!(row.window_start_ns, start);
            (dataset, (start - EDGE) / SECOND_NS)
        }));
    }
    let expected = [(0, 0), (0, 0), (1, 0), (1, 0), (0, 1), (0, 1), (1, 2), (1, 2)];
    assert_eq!(found, expected);
}

#[test]
fn spans_and_lanes_read_the_same_rows() {
    let root = tempfile::tempdir().unwrap();
    let times: Vec<i64> = (0..40).map(|window| EDGE + window * SECOND_NS).collect();
    write(root.path(), "rail3", &times[..20]);
    write(root.path(), "rail4", &times);
    let found = scan(root.path()).unwrap();
    let all: Vec<EventRow> = found.rows().unwrap();
    let mut in_lanes = Vec::new();
    let rows = found.select::<EventRow>();
    rows.for_each_in_parallel(|row| in_lanes.push(row.clone())).unwrap();
    let by_time = |row: &EventRow| (row.observer.to_string(), row.time_ns);
    in_lanes.sort_by_key(by_time);
    assert_eq!(in_lanes, all);
    let mut reader = SpanReader::new(found);
    for _ in 0..2 {
        let span = times[5]..times[8];
        let rows: Vec<EventRow> = reader.rows(&span).unwrap();
        let expected = all.iter().filter(|row| span.contains(&row.time_ns));
        assert!(rows.iter().eq(expected));
    }
}

#[test]
fn a_missing_dataset_differs_from_one_without_requested_rows() {
    let root = tempfile::tempdir().unwrap();
    let late = || Query::default().within(TimeRange::since(Time(EDGE)));
    let error = late().open(root.path()).unwrap_err();
    assert!(matches!(error, Error::NoDataset { .. }));
    write(root.path(), "rail3", &[START]);
    fs::remove_dir_all(root.path().join(".open")).unwrap();
    let found = late().open(root.path()).unwrap();
    assert_eq!((found.segments.len(), found.statistics.opened()), (0, 0));
    assert_eq!(found.rows::<FlowRow>().unwrap(), WindowRows::default().flows);
}

#[test]
fn steps_have_each_row_once_and_none_before_what_they_promise() {
    let root = tempfile::tempdir().unwrap();
    let odd: Vec<i64> = (0..10).map(|window| EDGE + (2 * window + 1) * SECOND_NS).collect();
    let even: Vec<i64> = (0..10).map(|window| EDGE + 2 * window * SECOND_NS).collect();
    write(root.path(), "a", &odd);
    write(root.path(), "b", &even);
    let all = scan(root.path()).unwrap();
    let mut found = Vec::new();
    let mut ends = Vec::new();
    for (step, next) in all.select::<WindowRow>().steps(6) {
        let mut rows = 0;
        step.for_each(|row| {
            rows += 1;
            found.push(row.window_start_ns);
        })
        .unwrap();
        assert!(rows == 6 || next.is_none(), "{rows}");
        let later = found.iter().filter(|start| next.is_some_and(|next| **start >= next.0));
        assert_eq!(later.count(), 0, "a row of a later step");
        ends.push(next);
    }
    let expected: Vec<i64> = (0..20).map(|window| EDGE + window * SECOND_NS).collect();
    assert_eq!(found, expected);
    assert_eq!(
        ends,
        [
            Some(Time(expected[6])),
            Some(Time(expected[12])),
            Some(Time(expected[18])),
            None
        ]
    );
}

#[test]
fn columns_that_were_not_requested_are_empty_and_repeated_texts_come_back() {
    let root = tempfile::tempdir().unwrap();
    let row = |number: u32| ProbeRow {
        observer: format!("h{}", number / 40).into(),
        time: Time(START),
        time_ns: START,
        src_nic: format!("n{}", number % 8).into(),
        src: std::net::Ipv4Addr::from_bits(0x0a00_0000 + number % 700).into(),
        dst: std::net::Ipv6Addr::from_bits(u128::from(number / 3)).into(),
        sequence: number.into(),
        outcome: "unsent".into(),
        clock_source: "cpu".into(),
        unsent_reason: (!number.is_multiple_of(3)).then(|| "nic_down".into()),
        ..ProbeRow::default()
    };
    let rows: Vec<ProbeRow> = (0..9_000).map(row).collect();
    let options = Options {
        tables: rocescope_model::PROBE_TABLES,
        ..Options::new("agents")
    };
    let mut writer = Writer::create(root.path(), options).unwrap();
    writer.append_cells(&rows, Instant::now()).unwrap();
    writer.finish().unwrap();
    let found = scan(root.path()).unwrap();
    let mut read = Vec::new();
    let wanted = found
        .select::<ProbeRow>()
        .columns(|column| !["time", "sequence", "clock_source"].contains(&column.name));
    wanted.for_each_in_parallel(|row| read.push(row.clone())).unwrap();
    let expected = rows.into_iter().map(|row| ProbeRow {
        time: Time(0),
        sequence: 0,
        clock_source: "".into(),
        ..row
    });
    assert!(read.into_iter().eq(expected));
}

/// Three hours of two directions, a row every ten minutes, in one segment an hour.
#[test]
fn of_rows_with_totals_only_the_last_of_each_object_is_read() {
    const TEN_MINUTES_NS: i64 = HOUR_NS / 6;
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    let now = Instant::now();
    for time_ns in (0..18).map(|at| EDGE + at * TEN_MINUTES_NS) {
        let row = |role: &'static str| ConnectionRow {
            observer: "rail3".into(),
            time: Time(time_ns),
            time_ns,
            connection: 7,
            role: role.into(),
            ..ConnectionRow::default()
        };
        let connections = vec![row("a_to_b"), row("b_to_a")];
        let rows = WindowRows {
            connections,
            ..WindowRows::default()
        };
        writer.append(&rows, now).unwrap();
    }
    writer.finish().unwrap();
    let at = |ten_minutes: i64| Time(EDGE + ten_minutes * TEN_MINUTES_NS);
    let query = Query::default().tables(&[ConnectionRow::TABLE]);
    let read = |within: TimeRange, time, other| -> Vec<i64> {
        let last = LastOfEach {
            object: &["observer", "connection", "role"],
            time,
            other,
        };
        let found = query.clone().within(within).open(root.path()).unwrap();
        let mut read = Vec::new();
        let rows = found.select::<ConnectionRow>().last_of_each(last);
        rows.for_each(|row| read.push((row.time_ns - EDGE) / TEN_MINUTES_NS))
            .unwrap();
        assert!(
            read.chunks(2).all(|pair| pair[0] == pair[1]),
            "both directions: {read:?}"
        );
        read.into_iter().step_by(2).collect()
    };
    let always = TimeRange::default();
    let to = |to| TimeRange {
        from: None,
        to: Some(to),
    };
    assert_eq!(read(always, always, None), [5, 11, 17]);
    assert_eq!(
        read(to(at(10)), always, None),
        [5, 9],
        "no row that was not requested replaces one"
    );
    assert_eq!(read(always, to(at(9)), None), [5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    let from = TimeRange::since(at(9));
    assert_eq!(read(always, from, Some(to(at(9)))), [5, 8, 11, 17]);
}
