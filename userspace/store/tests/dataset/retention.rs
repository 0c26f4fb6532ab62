//! What is deleted, in which order, and what is never deleted.

use crate::rows::{HOUR_NS, START, files, window};
use rocescope_model::{SHIPPED, Time, WindowRow};
use rocescope_store::{Limits, Options, Retained, Writer, retain, scan};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Three hours of two observers: 30 segments.
fn dataset(root: &Path) {
    for observer in ["rail3", "rail4"] {
        let mut writer = Writer::create(root, Options::new(observer)).unwrap();
        for hour in 0..3 {
            writer.append(&window(hour * HOUR_NS), Instant::now()).unwrap();
        }
        writer.finish().unwrap();
    }
}

#[test]
fn whole_hours_are_deleted_by_age() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let bytes: u64 = scan(root.path()).unwrap().segments.iter().map(|s| s.bytes).sum();
    let limits = Limits {
        // 03:30: the hour of 02:30 has ended, that of 03:30 has not.
        older_than: Some(Time(START + HOUR_NS)),
        max_bytes: None,
    };
    let retained = retain(root.path(), limits).unwrap();
    assert_eq!(retained.deleted_segments, 10);
    assert_eq!(retained.deleted_bytes + retained.kept_bytes, bytes);
    let left = scan(root.path()).unwrap();
    assert_eq!(left.row_count("windows"), 4);
    assert!(left.segments.iter().all(|s| *s.partition > *"date=2026-11-21/hour=02"));
    assert!(!root.path().join("flows/date=2026-11-21/hour=02").exists());
}

#[test]
fn the_oldest_are_deleted_until_the_rest_fits() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let segments = scan(root.path()).unwrap().segments;
    let bytes: u64 = segments.iter().map(|s| s.bytes).sum();
    let limits = Limits {
        older_than: None,
        max_bytes: Some(bytes - 1),
    };
    let retained = retain(root.path(), limits).unwrap();
    // The first hour of one observer, in five tables.
    assert_eq!(retained.deleted_segments, 5);
    let left = scan(root.path()).unwrap().segments;
    assert_eq!(left.len(), segments.len() - 5);
    for deleted in segments.iter().filter(|segment| !left.contains(segment)) {
        assert!(segments.iter().all(|segment| segment.partition >= deleted.partition));
        assert!(deleted.path.to_str().unwrap().contains("rail3-"));
    }
    // By size the newest windows remain, with all their rows.
    let smallest = Limits {
        older_than: None,
        max_bytes: Some(0),
    };
    let newest = retain(root.path(), smallest).unwrap();
    let rest = scan(root.path()).unwrap().segments;
    assert_eq!(newest.deleted_segments, (left.len() - rest.len()) as u64);
    let partitions: Vec<&str> = left.iter().map(|segment| &*segment.partition).collect();
    assert!(!rest.is_empty() && rest.iter().all(|one| Some(&&*one.partition) == partitions.iter().max()));
    let none = Limits {
        older_than: Some(Time(i64::MAX)),
        max_bytes: None,
    };
    assert_eq!(retain(root.path(), none).unwrap().deleted_segments, rest.len() as u64);
    assert_eq!(
        files(root.path()).len(),
        3,
        "the locks, and up to where rows were deleted"
    );
    assert!(!root.path().join("flows").exists());
}

#[test]
fn without_limits_everything_remains_and_foreign_files_always_do() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let foreign = root.path().join("flows/date=2026-11-21/hour=02/part-0.parquet");
    std::fs::write(&foreign, "a foreign file").unwrap();
    let before = files(root.path());
    let kept = retain(root.path(), Limits::default()).unwrap();
    assert_eq!(kept.deleted_segments, 0);
    assert_eq!(files(root.path()), before);
    let none = Limits {
        older_than: Some(Time(i64::MAX)),
        max_bytes: Some(0),
    };
    let retained = retain(root.path(), none).unwrap();
    assert_eq!(retained.kept_bytes, 0);
    assert_ne!(retained, Retained::default());
    assert!(foreign.exists());
}

/// While `rocescope dataset ship` copies a dataset, only what the store has is deleted.
#[test]
fn a_segment_that_is_not_shipped_remains() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let segments = scan(root.path()).unwrap().segments;
    let shipped = root.path().join(SHIPPED);
    std::fs::create_dir(&shipped).unwrap();
    let everything = Limits {
        older_than: Some(Time(i64::MAX)),
        max_bytes: None,
    };
    let retained = retain(root.path(), everything).unwrap();
    let all = segments.len() as u64;
    assert_eq!((retained.deleted_segments, retained.waiting_segments), (0, all));
    // The tables of the same windows wait for each other.
    let is_of = |path: &Path| path.to_str().unwrap().contains("hour=03/rail3-");
    let together: Vec<_> = segments.iter().filter(|segment| is_of(&segment.path)).collect();
    assert_eq!(together.len(), 5);
    let marker = |path: &Path| shipped.join(path.strip_prefix(root.path()).unwrap());
    for (done, segment) in (1..).zip(&together) {
        let marker = marker(&segment.path);
        std::fs::create_dir_all(marker.parent().unwrap()).unwrap();
        std::fs::write(&marker, "").unwrap();
        let retained = retain(root.path(), everything).unwrap();
        let expected = match done == together.len() as u64 {
            true => (done, all - done),
            false => (0, all - done),
        };
        assert_eq!((retained.deleted_segments, retained.waiting_segments), expected);
    }
    for segment in together {
        assert!(!segment.path.exists() && !marker(&segment.path).exists());
    }
    assert_eq!(scan(root.path()).unwrap().segments.len() as u64, all - 5);
}

/// All windows of the only hour were deleted first, and the flows that remained could not be placed.
#[test]
fn windows_of_an_hour_are_deleted_with_their_rows_and_the_newest_remain() {
    const SECOND_NS: i64 = HOUR_NS / 3_600;
    let root = tempfile::tempdir().unwrap();
    for observer in ["rail3", "rail4"] {
        let options = Options {
            max_age: Duration::ZERO,
            ..Options::new(observer)
        };
        let mut writer = Writer::create(root.path(), options).unwrap();
        for second in 0..6 {
            let mut rows = window(second * SECOND_NS);
            // Its rows may begin later.
            rows.flows
                .iter_mut()
                .for_each(|row| row.window_start.0 += SECOND_NS / 2);
            writer.append(&rows, Instant::now()).unwrap();
        }
        writer.finish().unwrap();
    }
    let segments = scan(root.path()).unwrap().segments;
    let bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    let limits = Limits {
        older_than: None,
        max_bytes: Some(bytes / 2),
    };
    retain(root.path(), limits).unwrap();
    let left = scan(root.path()).unwrap();
    let starts = |table: &str| -> BTreeSet<String> {
        let names = left.table(table).map(|segment| segment.path.file_stem().unwrap());
        names.map(|name| name.to_str().unwrap().to_owned()).collect()
    };
    let kept = starts("windows").len() as i64;
    assert!((4..=6).contains(&kept), "{:?}", starts("windows"));
    for table in ["flows", "opcodes", "events", "pdcs"] {
        assert_eq!(starts(table), starts("windows"), "{table}");
    }
    let oldest = left
        .rows::<WindowRow>()
        .unwrap()
        .iter()
        .map(|row| row.window_start_ns)
        .min();
    // Of two observers, so that an odd number has one more of the second.
    assert_eq!(oldest, Some(START + (6 - (kept + 1) / 2) * SECOND_NS));
}
