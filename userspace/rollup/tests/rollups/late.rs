//! Rows that come when their hour is rolled up, and what it was made of is gone.

use crate::exact::all;
use crate::faults::{SHAPE, add, copy};
use crate::oracle;
use crate::rows::{START, scratch, window, write};
use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{Resolution, Time, WindowRow};
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_sketches::random::SplitMix64;
use rocescope_store::rollup::directory;
use rocescope_store::{Limits, Options, Writer, retain, scan};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// A second box writes rows of hours that are rolled up, and deleted for the first one.
#[test]
fn a_second_writer_may_come_late() {
    let (root, whole) = (scratch(), scratch());
    let one = |root: &Path, observer: &str, seconds: &[i64]| {
        let mut writer = Writer::create(root, Options::new(observer)).unwrap();
        for second in seconds {
            let start = START + second * SECOND_NS;
            let mut rows = window(observer, start, 9, &mut SplitMix64::new(second.unsigned_abs()));
            rows.connections.clear();
            writer.append(&rows, Instant::now()).unwrap();
        }
        writer.finish().unwrap();
    };
    for root in [root.path(), whole.path()] {
        one(root, "rail1", &[0, 61, 3_700, 7_300]);
    }
    all(root.path());
    // Its rows, and the rollups of minutes that they are in.
    let limits = Limits {
        older_than: Some(Time(START + HOUR_NS)),
        max_bytes: None,
    };
    retain(root.path(), limits).unwrap();
    retain(&directory(root.path(), Resolution::Minute), limits).unwrap();
    for (number, seconds) in [&[5, 62, 3_701][..], &[6, 7_200], &[3_599]].into_iter().enumerate() {
        for root in [root.path(), whole.path()] {
            one(root, "rail2", seconds);
        }
        let made = all(root.path());
        assert_eq!((made.too_late, made.made.len()), (0, 3), "{number}");
        let frames = |root: &Path| -> u64 {
            let rows: Vec<WindowRow> = scan(root).unwrap().rows().unwrap();
            rows.iter().map(|row| row.frames).sum()
        };
        for resolution in [Resolution::Hour, Resolution::Day] {
            assert_eq!(
                frames(&directory(root.path(), resolution)),
                frames(whole.path()),
                "{number}"
            );
        }
    }
}

/// Some segments of an hour are deleted, one by one, as an operator may.
#[test]
fn an_hour_that_lost_some_of_its_segments_takes_late_rows() {
    let (root, whole) = (scratch(), scratch());
    write(root.path(), SHAPE);
    copy(root.path(), whole.path());
    all(root.path());
    let found = scan(root.path()).unwrap();
    for table in ["windows", "flows", "connections"] {
        let first = found.table(table).find(|segment| segment.partition.contains("hour=03"));
        fs::remove_file(&first.unwrap().path).unwrap();
    }
    for second in [3_605, 3_606] {
        add(
            [root.path(), whole.path()],
            START + second * SECOND_NS,
            second.unsigned_abs(),
        );
        assert_eq!(all(root.path()).made.len(), 3);
        oracle::assert_equal(whole.path(), root.path());
        assert_eq!(all(root.path()), RolledUp::default());
    }
}

/// Rows that are added to a rollup are read once: those of flows wait for their windows.
#[test]
fn late_flows_wait_until_their_windows_are_sealed() {
    let (root, whole) = (scratch(), scratch());
    write(root.path(), SHAPE);
    copy(root.path(), whole.path());
    all(root.path());
    let limits = Limits {
        older_than: Some(Time(START + HOUR_NS)),
        max_bytes: None,
    };
    retain(root.path(), limits).unwrap();
    add([root.path(), whole.path()], START + 17 * SECOND_NS, 90);
    // As if the writer were about to seal the windows.
    let windows = scan(root.path()).unwrap();
    let sealed = windows
        .table("windows")
        .find(|segment| segment.partition.contains("hour=02"));
    let sealed = sealed.unwrap().path.clone();
    let name = sealed.file_stem().unwrap().to_str().unwrap();
    let open = root.path().join(".open/windows");
    fs::create_dir_all(&open).unwrap();
    let journal = open.join(format!("{name}.parquet.tmp"));
    fs::rename(&sealed, &journal).unwrap();
    let settings = Settings {
        ended_before: Time(i64::MAX),
        flow_rows: usize::MAX,
    };
    let made = rollup(root.path(), settings).unwrap();
    assert_eq!((made.made.len(), made.changed.len()), (0, 1), "{made:?}");
    fs::rename(&journal, &sealed).unwrap();
    assert_eq!(all(root.path()).made.len(), 3);
    oracle::assert_equal(whole.path(), root.path());
}
