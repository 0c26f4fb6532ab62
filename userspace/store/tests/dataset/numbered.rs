//! Numbered rows are stored exactly once, after any kill and any retransmission.

use crate::rows::{SECOND_NS, scratch};
use rocescope_model::time::HOUR_NS;
use rocescope_model::{PathRow, ProbeRow, Time};
use rocescope_store::{Numbered, Options, Writer, repair, scan};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn probes(time: i64, rows: u64) -> Vec<ProbeRow> {
    let row = |sequence| ProbeRow {
        observer: "h0".into(),
        time: Time(time),
        time_ns: time,
        sequence,
        ..ProbeRow::default()
    };
    (0..rows).map(row).collect()
}

fn options() -> Options {
    Options {
        tables: &[],
        ..Options::new("collector")
    }
}

fn append(writer: &mut Writer, batches: &[(i64, i64, &Vec<ProbeRow>)]) -> Vec<bool> {
    let numbered = batches
        .iter()
        .map(|&(epoch, sequence, rows)| Numbered::new("h0", epoch, sequence, rows).unwrap());
    let numbered: Vec<Numbered<'_>> = numbered.collect();
    writer.append_numbered(&numbered, Instant::now()).unwrap()
}

#[test]
fn a_number_is_stored_once_within_a_writer_and_across_writers() {
    let root = scratch();
    let (one, two) = (probes(0, 3), probes(SECOND_NS, 2));
    let mut writer = Writer::create(root.path(), options()).unwrap();
    let batches = [(7, 1, &one), (7, 2, &two), (7, 2, &two)];
    assert_eq!(append(&mut writer, &batches), [true, true, false]);
    assert_eq!(append(&mut writer, &batches), [false; 3]);
    writer.sync().unwrap();
    writer.finish().unwrap();
    let mut writer = Writer::create(root.path(), options()).unwrap();
    assert_eq!(append(&mut writer, &batches), [false; 3]);
    assert_eq!(append(&mut writer, &[(8, 1, &one)]), [true], "a new epoch");
    writer.finish().unwrap();
    let rows = scan(root.path()).unwrap().rows::<ProbeRow>().unwrap();
    assert_eq!(rows, [one.clone(), two, one].concat());
}

#[test]
fn each_table_has_its_own_numbers() {
    let root = scratch();
    let (rows, paths) = (probes(0, 1), vec![PathRow::default()]);
    let mut writer = Writer::create(root.path(), options()).unwrap();
    assert_eq!(append(&mut writer, &[(1, 2, &rows)]), [true]);
    let earlier = [Numbered::new("h0", 1, 1, &paths).unwrap()];
    let appended = writer.append_numbered(&earlier, Instant::now());
    assert_eq!(appended.unwrap(), [true]);
}

#[test]
fn plain_and_numbered_rows_of_a_table_do_not_mix() {
    let root = scratch();
    let rows = probes(0, 2);
    let mut writer = Writer::create(root.path(), options()).unwrap();
    append(&mut writer, &[(1, 1, &rows)]);
    writer.append_cells(&rows, Instant::now()).unwrap();
    append(&mut writer, &[(1, 2, &rows)]);
    let summary = writer.finish().unwrap();
    assert_eq!(summary.table("probes").rows, 6);
    assert_eq!(scan(root.path()).unwrap().row_count("probes"), 6);
}

/// Creates the journal that a kill leaves, with the file of marks of that moment.
fn leave_open(root: &Path, batches: &[(i64, i64, &Vec<ProbeRow>)]) -> PathBuf {
    let mut writer = Writer::create(root, options()).unwrap();
    for batch in batches {
        append(&mut writer, &[*batch]);
    }
    let journal = scan(root).unwrap().open[0].clone();
    let bytes = fs::read(&journal).unwrap();
    drop(writer);
    for segment in scan(root).unwrap().segments {
        fs::remove_file(segment.path).unwrap();
    }
    fs::remove_file(marks(root)).unwrap();
    fs::write(&journal, bytes).unwrap();
    journal
}

fn marks(root: &Path) -> PathBuf {
    root.join(".open/probes/collector.marks")
}

#[test]
fn truncation_and_retransmission_lose_and_duplicate_nothing() {
    let root = scratch();
    let rows: Vec<Vec<ProbeRow>> = (0..3).map(|n| probes(n * SECOND_NS, 2)).collect();
    let batches: Vec<_> = rows.iter().zip(1..).map(|(r, n)| (1, n, r)).collect();
    let journal = leave_open(root.path(), &batches);
    let whole = fs::read(&journal).unwrap();
    // Not every byte, because each takes about thirty syncs; an odd step covers every remainder of 8.
    for cut in (0..=whole.len()).rev().step_by(23) {
        let _ = fs::remove_dir_all(root.path().join("probes"));
        let _ = fs::remove_file(marks(root.path()));
        fs::write(&journal, &whole[..cut]).unwrap();
        let mut writer = Writer::create(root.path(), options()).unwrap();
        append(&mut writer, &batches);
        writer.finish().unwrap();
        let stored = scan(root.path()).unwrap().rows::<ProbeRow>().unwrap();
        assert_eq!(stored, rows.concat(), "cut at {cut}");
    }
}

/// Killed after the segment was renamed, before its numbers were saved.
#[test]
fn the_numbers_of_a_journal_beside_its_segment_are_kept() {
    let root = scratch();
    let rows = probes(0, 2);
    let journal = leave_open(root.path(), &[(1, 1, &rows)]);
    let bytes = fs::read(&journal).unwrap();
    repair(root.path()).unwrap();
    fs::remove_file(marks(root.path())).unwrap();
    fs::write(&journal, bytes).unwrap();
    let mut writer = Writer::create(root.path(), options()).unwrap();
    assert_eq!(append(&mut writer, &[(1, 1, &rows)]), [false]);
    writer.finish().unwrap();
    assert_eq!(scan(root.path()).unwrap().row_count("probes"), 2);
}

#[test]
fn late_hours_between_current_ones_are_stored() {
    let root = scratch();
    let mut writer = Writer::create(root.path(), options()).unwrap();
    for n in 0..6 {
        let rows = probes((n % 2) * HOUR_NS, 1);
        assert_eq!(append(&mut writer, &[(1, n, &rows)]), [true]);
    }
    writer.finish().unwrap();
    assert_eq!(scan(root.path()).unwrap().row_count("probes"), 6);
}

/// Damaged marks would duplicate rows: the writer reports them and does not start on that table.
#[test]
fn damaged_marks_are_an_error() {
    let root = scratch();
    let rows = probes(0, 1);
    let mut writer = Writer::create(root.path(), options()).unwrap();
    append(&mut writer, &[(1, 1, &rows)]);
    writer.finish().unwrap();
    fs::write(marks(root.path()), "nonsense").unwrap();
    let mut writer = Writer::create(root.path(), options()).unwrap();
    let batch = [Numbered::new("h0", 1, 1, &rows).unwrap()];
    let refused = writer.append_numbered(&batch, Instant::now()).unwrap_err();
    assert!(refused.to_string().contains("collector.marks"), "{refused}");
}
