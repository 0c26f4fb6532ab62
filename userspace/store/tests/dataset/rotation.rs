//! When a segment ends, and which writers may share a root.

use crate::rows::{HOUR_NS, SECOND_NS, read, together, window};
use rocescope_model::{CounterRow, Row, WindowRows};
use rocescope_store::{Error, Options, Writer, scan};
use std::path::Path;
use std::time::{Duration, Instant};

fn write(root: &Path, options: Options, windows: &[WindowRows]) {
    let mut writer = Writer::create(root, options).unwrap();
    for rows in windows {
        writer.append(rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn hours_are_partitions_for_any_span() {
    let root = tempfile::tempdir().unwrap();
    let windows: Vec<WindowRows> = (0..100).map(|n| window(n * HOUR_NS)).collect();
    let before = open_files();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    for rows in &windows {
        writer.append(rows, Instant::now()).unwrap();
        // Four journals and a lock; other tests of this process hold some too.
        assert!(open_files() < before + 50);
    }
    writer.finish().unwrap();
    let scan = scan(root.path()).unwrap();
    assert_eq!(scan.table("flows").count(), 100);
    let last = scan.table("flows").last().unwrap();
    assert_eq!(last.partition, "date=2026-11-25/hour=05");
    assert_eq!(read(root.path()).unwrap(), together(windows));
}

fn open_files() -> usize {
    Path::new("/proc/self/fd").read_dir().map_or(0, Iterator::count)
}

#[test]
fn one_append_may_span_hours_out_of_order() {
    let root = tempfile::tempdir().unwrap();
    let mixed = together([window(HOUR_NS), window(0), window(HOUR_NS + SECOND_NS)]);
    write(root.path(), Options::new("rail3"), &[mixed]);
    let ordered = together([window(0), window(HOUR_NS), window(HOUR_NS + SECOND_NS)]);
    assert_eq!(read(root.path()).unwrap(), ordered);
    assert_eq!(scan(root.path()).unwrap().table("opcodes").count(), 2);
}

#[test]
fn age_depends_on_the_instants_passed_in() {
    let root = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let at = |seconds| begin + Duration::from_secs(seconds);
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append(&window(0), begin).unwrap();
    writer.append(&window(SECOND_NS), at(59)).unwrap();
    assert_eq!(writer.summary().table("windows").segments, 0);
    writer.append(&window(2 * SECOND_NS), at(60)).unwrap();
    assert_eq!(writer.summary().table("windows").segments, 1);
    assert_eq!(writer.summary().table("windows").rows, 2);
    writer.rotate(at(119)).unwrap();
    assert_eq!(writer.summary().table("windows").segments, 1);
    writer.rotate(at(120)).unwrap();
    assert_eq!(writer.summary().table("windows").segments, 2);
    assert_eq!(writer.finish().unwrap().table("windows").segments, 2);
}

#[test]
fn size_ends_a_segment() {
    let root = tempfile::tempdir().unwrap();
    let options = Options {
        max_bytes: 1 << 20,
        ..Options::new("rail3")
    };
    let windows: Vec<WindowRows> = (0..5)
        .map(|n| {
            let mut rows = window(n * SECOND_NS);
            rows.windows[0].count_min_bytes = Some(vec![1; 600 << 10].into());
            rows
        })
        .collect();
    write(root.path(), options, &windows);
    let scan = scan(root.path()).unwrap();
    assert_eq!(scan.table("windows").count(), 3);
    assert_eq!(scan.table("flows").count(), 1);
    assert_eq!(read(root.path()).unwrap(), together(windows));
}

#[test]
fn two_observers_share_a_root_and_one_observer_does_not() {
    let root = tempfile::tempdir().unwrap();
    let mut first = Writer::create(root.path(), Options::new("rail3")).unwrap();
    let mut second = Writer::create(root.path(), Options::new("rail4")).unwrap();
    first.append(&window(0), Instant::now()).unwrap();
    second.append(&window(0), Instant::now()).unwrap();
    let third = Writer::create(root.path(), Options::new("rail3"));
    assert!(matches!(third, Err(Error::Busy { .. })), "{third:?}");
    first.finish().unwrap();
    second.finish().unwrap();
    let scan = scan(root.path()).unwrap();
    assert_eq!(scan.row_count("windows"), 2);
    assert_eq!(scan.table("windows").count(), 2);
}

#[test]
fn the_same_start_again_takes_the_next_number() {
    let root = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        write(root.path(), Options::new("rail3"), &[window(0)]);
    }
    let scan = scan(root.path()).unwrap();
    let last = &scan.table("flows").last().unwrap().path;
    assert!(last.ends_with("rail3-20261121T023000Z-0002.parquet"));
    assert_eq!(scan.row_count("windows"), 3);
}

#[test]
fn a_root_that_cannot_be_written_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.join("below"), Path::new("/proc/rocescope").to_owned()] {
        let refused = Writer::create(&path, Options::new("rail3")).unwrap_err();
        let line = refused.to_string();
        let begin = format!("cannot create {}: ", path.display());
        assert!(line.starts_with(&begin), "{line}");
        assert!(!line.contains('\n'));
    }
}

#[test]
fn dropping_a_writer_seals() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    drop(writer);
    assert_eq!(read(root.path()).unwrap(), window(0));
}

/// An agent releases memory between the steps of appending and of sealing: after each column of each batch, and after each
/// column of the segment.
#[test]
fn sealing_calls_back_between_its_steps() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    let root = tempfile::tempdir().unwrap();
    let options = Options {
        tables: &[],
        between_steps: || {
            STEPS.fetch_add(1, Ordering::Relaxed);
        },
        ..Options::new("h0")
    };
    let mut writer = Writer::create(root.path(), options).unwrap();
    let rows = vec![CounterRow::default()];
    for _ in 0..3 {
        writer.append_cells(&rows, Instant::now()).unwrap();
    }
    // Each append, and the journal.
    let appended = STEPS.load(Ordering::Relaxed);
    assert_eq!(appended, 4);
    writer.finish().unwrap();
    let columns = CounterRow::TABLE.columns.len();
    let sealed = STEPS.load(Ordering::Relaxed) - appended;
    assert!(sealed > 4 * columns + 3, "{sealed}");
}
