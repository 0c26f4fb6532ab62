//! Rollups with damaged segments, and with sums that differ.

use crate::exact::all;
use crate::faults::{SHAPE, add};
use crate::oracle;
use crate::rows::{START, scratch, write};
use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{Resolution, Time, WindowRow};
use rocescope_rollup::{Settings, rollup};
use rocescope_store::rollup::directory;
use rocescope_store::{Limits, Rollups, retain, scan};
use std::fs;
use std::path::Path;

/// Of all hours.
fn settings() -> Settings {
    Settings {
        ended_before: Time(i64::MAX),
        flow_rows: usize::MAX,
    }
}

/// Overwrites the first rows of a file: its footer is whole.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[4..60].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

/// A segment of a rollup that cannot be read is named; its partition stays, and the others are made.
#[test]
fn a_damaged_rollup_holds_up_no_other() {
    let root = scratch();
    write(root.path(), SHAPE);
    let before = Settings {
        ended_before: Time(START + 2 * HOUR_NS),
        flow_rows: usize::MAX,
    };
    rollup(root.path(), before).unwrap();
    let hours = directory(root.path(), Resolution::Hour);
    let days = scan(&hours).unwrap();
    let damaged = days.table("flows").next().unwrap().path.clone();
    damage(&damaged);
    let bytes = fs::read(&damaged).unwrap();
    // A late hour, and one of another day.
    add([root.path(), root.path()], START + 2 * HOUR_NS + 50 * SECOND_NS, 61);
    add([root.path(), root.path()], START + 50 * HOUR_NS, 62);
    let made = rollup(root.path(), settings()).unwrap();
    assert!(made.damaged.iter().any(|found| found.path == damaged), "{made:?}");
    assert_eq!(fs::read(&damaged).unwrap(), bytes);
    let minutes = scan(&directory(root.path(), Resolution::Minute)).unwrap();
    let later = |found: &rocescope_store::Scan| found.segments.iter().any(|one| one.partition.contains("2026-11-23"));
    assert!(later(&minutes) && later(&scan(&hours).unwrap()));
    // With another one in its place, everything is made.
    fs::remove_file(&damaged).unwrap();
    all(root.path());
    oracle::assert_equal(root.path(), root.path());
}

/// Added rows would take the place of those that cannot be read.
#[test]
fn a_damaged_rollup_is_not_extended() {
    let root = scratch();
    write(root.path(), SHAPE);
    all(root.path());
    let limits = Limits {
        older_than: Some(Time(START + HOUR_NS)),
        max_bytes: None,
    };
    retain(root.path(), limits).unwrap();
    let minutes = scan(&directory(root.path(), Resolution::Minute)).unwrap();
    let damaged = minutes.table("flows").next().unwrap().path.clone();
    assert!(damaged.to_string_lossy().contains("hour=02"));
    damage(&damaged);
    let bytes = fs::read(&damaged).unwrap();
    add([root.path(), root.path()], START + 11 * SECOND_NS, 63);
    let made = rollup(root.path(), settings()).unwrap();
    assert!(made.damaged.iter().any(|found| found.path == damaged), "{made:?}");
    assert_eq!(fs::read(&damaged).unwrap(), bytes);
}

/// A rollup with another sum than its rows is found.
#[test]
fn verify_finds_a_rollup_that_differs() {
    let root = scratch();
    write(root.path(), SHAPE);
    let rollups = Rollups::lock(root.path()).unwrap();
    let mut made = 0;
    for start in rollups.partitions(Resolution::Minute).unwrap() {
        for task in rollups.due(Resolution::Minute, start, Time(i64::MAX)).unwrap().tasks {
            rollups
                .write(&task, &mut |unit, sink| {
                    let rows: Vec<WindowRow> = unit.new.rows()?;
                    let wrong = rows.into_iter().map(|row| {
                        made += 1;
                        let messages = row.messages + u64::from(made == 3);
                        WindowRow { messages, ..row }
                    });
                    sink.push(&wrong.collect::<Vec<_>>())
                })
                .unwrap();
        }
    }
    drop(rollups);
    let compared = rocescope_rollup::verify::compare(root.path()).unwrap();
    assert!(compared.partitions > 1 && made > 3);
    let [problem] = compared.problems.as_slice() else {
        panic!("{compared:?}")
    };
    assert!(
        problem.starts_with("messages from ") && problem.contains(" in 1s and "),
        "{problem}"
    );
}
