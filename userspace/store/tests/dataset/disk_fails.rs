//! A disk that fails for another reason than being full: a directory that cannot be written, or is gone.

use crate::rows::{SECOND_NS, read, together, window};
use rocescope_store::{Error, Options, Writer};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A writer that sealed one window, and will seal the next ones when they are a minute old.
fn writer(root: &Path) -> (Writer, Instant) {
    let mut writer = Writer::create(root, Options::new("rail3")).unwrap();
    let now = Instant::now();
    writer.append(&window(0), now).unwrap();
    let later = now + Duration::from_secs(60);
    writer.rotate(later).unwrap();
    (writer, later)
}

/// It never wrote again, although the directory could be written three seconds later.
#[test]
fn a_writer_resumes_when_a_directory_can_be_written_again() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let (mut writer, now) = writer(root);
    writer.append(&window(SECOND_NS), now).unwrap();
    // Root may write to every directory, so a file is in its place.
    let (flows, aside) = (root.join("flows"), root.join("aside"));
    fs::rename(&flows, &aside).unwrap();
    fs::write(&flows, "").unwrap();
    let failed = writer.rotate(now + Duration::from_secs(60)).unwrap_err();
    assert!(failed.is_of_disk() && !failed.is_no_space(), "{failed}");
    let refused = writer.append(&window(2 * SECOND_NS), now).unwrap_err();
    assert_eq!(refused.to_string(), failed.to_string());
    assert!(writer.resume().is_err());

    fs::remove_file(&flows).unwrap();
    fs::rename(&aside, &flows).unwrap();
    writer.resume().unwrap();
    writer.append(&window(3 * SECOND_NS), now).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!(
        (summary.refused_windows, summary.unsealed.len(), summary.lost.len()),
        (1, 0, 0)
    );
    assert_eq!(read(root).unwrap(), together([0, SECOND_NS, 3 * SECOND_NS].map(window)));
}

#[test]
fn rows_that_went_with_their_directory_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("dataset");
    let (mut writer, now) = writer(&root);
    writer.append(&window(SECOND_NS), now).unwrap();
    fs::remove_dir_all(&root).unwrap();
    // The kernel still accepts rows for a journal without a name.
    writer.append(&window(2 * SECOND_NS), now).unwrap();
    assert!(writer.rotate(now + Duration::from_secs(60)).unwrap_err().is_of_disk());
    writer.resume().unwrap();
    assert_eq!(writer.summary().lost["windows"], 2);
    let other = Writer::create(&root, Options::new("rail3")).map(drop);
    assert!(matches!(other, Err(Error::Busy { .. })), "{other:?}");
    writer.append(&window(3 * SECOND_NS), now).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!((summary.refused_windows, summary.lost["windows"]), (0, 2));
    assert_eq!(read(&root).unwrap(), window(3 * SECOND_NS));
}

#[test]
fn a_directory_that_vanished_is_found_at_the_end_too() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("dataset");
    let (mut writer, now) = writer(&root);
    writer.append(&window(SECOND_NS), now).unwrap();
    fs::remove_dir_all(&root).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!((summary.lost["windows"], summary.unsealed.len()), (1, 0));
}

/// A segment whose directory cannot be read was no obstacle for its name: a journal got it, and the next repair took that
/// for what was left of the segment, and removed its rows.
#[test]
fn a_journal_gets_no_name_of_a_segment_that_cannot_be_seen() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let (mut writer, now) = writer(root);
    for table in ["windows", "flows"] {
        let (table, aside) = (root.join(table), root.join("aside"));
        fs::rename(&table, &aside).unwrap();
        fs::write(&table, "").unwrap();
        assert!(writer.append(&window(0), now).unwrap_err().is_of_disk());
        fs::remove_file(&table).unwrap();
        fs::rename(&aside, &table).unwrap();
        writer.resume().unwrap();
        writer.append(&window(0), now).unwrap();
        let later = now + Duration::from_secs(60);
        writer.rotate(later).unwrap();
    }
    // As after a kill: what is left is repaired.
    writer.append(&window(0), now).unwrap();
    drop(writer);
    let rows = rocescope_store::scan(root).unwrap().row_count("windows");
    assert_eq!(rows, 4);
}
