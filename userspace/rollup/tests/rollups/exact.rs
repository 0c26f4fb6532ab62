//! Every row of a rollup is the aggregate of the rows that were captured.

use crate::oracle;
use crate::rows::{Shape, end, scratch, write};
use rocescope_model::{Resolution, Time};
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_store::{Compaction, compact, verify};
use std::path::Path;

/// Makes the rollups of all hours and days.
pub(crate) fn all(root: &Path) -> RolledUp {
    let settings = Settings {
        ended_before: Time(i64::MAX),
        flow_rows: usize::MAX,
    };
    let made = rollup(root, settings).unwrap();
    assert_eq!((made.damaged.as_slice(), made.changed.as_slice()), (&[][..], &[][..]));
    made
}

#[test]
fn rollups_of_minutes_hours_and_days_equal_the_captured_rows() {
    // Some windows an hour, over the end of a month; and every second.
    let sparse = Shape {
        seed: 1,
        windows: 30,
        step: 40_009,
        flows: 12,
    };
    let dense = Shape {
        seed: 2,
        windows: 130,
        step: 1,
        flows: 60,
    };
    for shape in [sparse, dense] {
        let root = scratch();
        write(root.path(), shape);
        let made = all(root.path());
        assert_eq!(made.made.len(), 3);
        assert!(oracle::assert_equal(root.path(), root.path()) > 1_000);
        assert_eq!(verify(root.path()).unwrap().problems, []);
        let compared = rocescope_rollup::verify::compare(root.path()).unwrap();
        assert!(compared.partitions > 2 && compared.problems.is_empty(), "{compared:?}");
        // There is nothing left to do.
        assert_eq!(all(root.path()), RolledUp::default());
    }
}

/// Made hour by hour, each time with the rows so far, and after segments were joined.
#[test]
fn rollups_that_grow_equal_those_made_at_once() {
    let shape = Shape {
        seed: 3,
        windows: 60,
        step: 601,
        flows: 9,
    };
    let root = scratch();
    write(root.path(), shape);
    let mut hour = Time(crate::rows::START);
    while hour < end(shape) {
        hour = Time(hour.0 + 5 * rocescope_model::time::HOUR_NS);
        let settings = Settings {
            ended_before: hour,
            flow_rows: usize::MAX,
        };
        let made = rollup(root.path(), settings).unwrap();
        let days = made
            .made
            .iter()
            .filter(|(resolution, _)| *resolution == Resolution::Day);
        assert!(days.count() <= 1);
    }
    all(root.path());
    oracle::assert_equal(root.path(), root.path());
    let compaction = Compaction {
        ended_before: Time(i64::MAX),
        max_bytes: u64::MAX,
    };
    assert!(!compact(root.path(), &compaction, || {}).unwrap().hours.is_empty());
    all(root.path());
    oracle::assert_equal(root.path(), root.path());
    assert_eq!(all(root.path()), RolledUp::default());
}
