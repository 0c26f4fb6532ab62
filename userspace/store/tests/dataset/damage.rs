//! Files whose content does not match their names.

use crate::rows::{scratch, window};
use rocescope_model::CAPTURE_TABLES;
use rocescope_model::footer;
use rocescope_store::{Error, Options, Writer, repair, scan};
use std::fs;
use std::path::Path;
use std::time::Instant;

fn dataset(root: &Path) {
    let mut writer = Writer::create(root, Options::new("rail3")).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_segment_truncated_anywhere_is_listed_and_the_others_are_read() {
    let root = scratch();
    dataset(root.path());
    let path = scan(root.path()).unwrap().segments[1].path.clone();
    let whole = fs::read(&path).unwrap();
    let cuts = (0..64).chain((64..whole.len()).step_by(37));
    for cut in cuts.chain(whole.len() - 16..whole.len()) {
        fs::write(&path, &whole[..cut]).unwrap();
        let found = scan(root.path()).unwrap();
        assert_eq!(found.segments.len(), CAPTURE_TABLES.len() - 1, "cut at {cut}");
        assert_eq!(found.unreadable.len(), 1, "cut at {cut}");
        assert_eq!(found.unreadable[0].path, path);
        assert!(!found.unreadable[0].reason.contains('\n'));
        assert_eq!(repair(root.path()).unwrap().unreadable, found.unreadable);
    }
}

/// Damage of several bytes, in the footer or in pages: the segment is named and has no rows, and nothing panics.
#[test]
fn a_damaged_segment_is_named_and_skipped() {
    let root = scratch();
    dataset(root.path());
    let found = scan(root.path()).unwrap();
    let path = found.table("windows").next().unwrap().path.clone();
    let whole = fs::read(&path).unwrap();
    let mut named = 0;
    for at in (4..whole.len()).step_by(11) {
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(at).take(8) {
            *byte ^= 0x5a;
        }
        fs::write(&path, damaged).unwrap();
        let found = scan(root.path()).unwrap();
        let rows = found.rows::<rocescope_model::WindowRow>().unwrap();
        let damaged = found.damaged();
        // The page indexes after the columns are not read.
        assert_eq!(rows.len(), usize::from(damaged.is_empty()), "byte {at}");
        if let [file] = damaged.as_slice() {
            assert_eq!(file.path, path);
            named += 1;
        }
    }
    assert!(named > 100, "{named} of the damages were noticed");
}

/// The root of a file system of its own.
#[test]
fn lost_and_found_is_no_table() {
    let root = tempfile::tempdir().unwrap();
    dataset(root.path());
    let before = scan(root.path()).unwrap();
    let hour = root.path().join("lost+found/date=2026-11-21/hour=02");
    fs::create_dir_all(&hour).unwrap();
    fs::write(hour.join("x.parquet"), "not a segment").unwrap();
    assert_eq!(scan(root.path()).unwrap(), before);
}

/// Another observer's retention removes directories that became empty.
#[test]
fn directories_that_vanish_during_a_walk_are_no_error() {
    let root = scratch();
    dataset(root.path());
    let day = root.path().join("windows/date=2026-01-01");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                fs::create_dir_all(day.join("hour=00")).unwrap();
                fs::remove_dir(day.join("hour=00")).unwrap();
                fs::remove_dir(&day).unwrap();
            }
        });
        let scans: Vec<_> = (0..500)
            .map(|_| scan(root.path()).map(|found| found.segments.len()))
            .collect();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(
            scans.iter().all(|found| matches!(found, Ok(4..))),
            "{:?}",
            scans.iter().find(|found| found.is_err())
        );
    });
}

#[test]
fn a_segment_of_a_later_format_is_rejected() {
    let root = tempfile::tempdir().unwrap();
    let mut options = Options::new("rail3");
    options.metadata = vec![(footer::FORMAT.into(), "3".into())];
    let mut writer = Writer::create(root.path(), options).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    writer.finish().unwrap();
    let found = scan(root.path()).unwrap();
    assert_eq!(found.segments.len(), 0);
    let reason = &found.unreadable[0].reason;
    assert!(
        reason.ends_with("format 3, but this program reads up to format 2: use a newer rocescope"),
        "{reason}"
    );
}

#[test]
fn a_missing_dataset_is_one_clear_error() {
    let root = tempfile::tempdir().unwrap();
    let missing = root.path().join("missing");
    let error = scan(&missing).unwrap_err();
    assert!(matches!(error, Error::Io { .. }));
    assert!(error.to_string().contains("missing"), "{error}");
}
