//! What is deleted, in which order, and what is never deleted.

use crate::rows::{HOUR_NS, START, files, window};
use rocescope_model::{SHIPPED, Time};
use rocescope_store::{Limits, Options, Retained, Writer, retain, scan};
use std::path::Path;
use std::time::Instant;

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
    assert_eq!(retained.deleted_segments, 1);
    let left = scan(root.path()).unwrap().segments;
    assert_eq!(left.len(), segments.len() - 1);
    let deleted = segments.iter().find(|segment| !left.contains(segment)).unwrap();
    assert!(segments.iter().all(|segment| segment.partition >= deleted.partition));
    let none = Limits {
        older_than: None,
        max_bytes: Some(0),
    };
    assert_eq!(retain(root.path(), none).unwrap().deleted_segments, left.len() as u64);
    assert_eq!(files(root.path()).len(), 2, "the locks");
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

/// While `rocescope ship` copies a dataset, only what the store has is deleted.
#[test]
fn a_segment_that_is_not_shipped_remains() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let segments = scan(root.path()).unwrap().segments;
    let shipped = root.path().join(SHIPPED);
    std::fs::create_dir(&shipped).unwrap();
    let everything = Limits {
        older_than: None,
        max_bytes: Some(0),
    };
    let retained = retain(root.path(), everything).unwrap();
    let all = segments.len() as u64;
    assert_eq!((retained.deleted_segments, retained.waiting_segments), (0, all));
    let marker = shipped.join(segments[7].path.strip_prefix(root.path()).unwrap());
    std::fs::create_dir_all(marker.parent().unwrap()).unwrap();
    std::fs::write(&marker, "").unwrap();
    let retained = retain(root.path(), everything).unwrap();
    assert_eq!((retained.deleted_segments, retained.waiting_segments), (1, all - 1));
    assert!(!segments[7].path.exists() && !marker.exists());
    assert_eq!(scan(root.path()).unwrap().segments.len() as u64, all - 1);
}
