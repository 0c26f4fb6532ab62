//! A dataset of format 1, made by `rocescope capture` of that version: it is not read, and `repair` converts it.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rocescope_model::{ConnectionRow, PdcRow, WindowRow};
use rocescope_store::{repair, scan, verify};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The names that changed, in the order of the tables.
const RENAMED: [(&str, &str); 12] = [
    ("lost_packets", "capture_lost_packets"),
    ("dropped_frames", "capture_dropped_frames"),
    ("mirrored_twice_packets", "mirror_duplicate_packets"),
    ("lost_before_tap_packets", "fabric_lost_upstream_packets"),
    ("lost_after_tap_packets", "fabric_lost_downstream_packets"),
    ("lost_gaps", "unfilled_gaps"),
    ("lost_gap_packets", "unfilled_gap_packets"),
    ("lost_gaps_acknowledged", "unfilled_gaps_acknowledged"),
    ("lost_gaps_nak", "unfilled_gaps_nak"),
    ("lost_gaps_unanswered", "unfilled_gaps_unanswered"),
    ("lost_gaps_unknown", "unfilled_gaps_unknown"),
    ("lost_response_gaps", "unfilled_response_gaps"),
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        match path.is_dir() {
            true => copy(&path, &to),
            false => fs::copy(&path, &to).map(|_| ()).unwrap(),
        }
    }
}

/// Every cell of every segment, by file, row and name of today.
fn cells(folder: &Path, cells: &mut BTreeMap<(PathBuf, usize, String), Field>, root: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::cells(&path, cells, root);
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
            for (at, row) in reader.get_row_iter(None).unwrap().enumerate() {
                for (name, value) in row.unwrap().get_column_iter() {
                    let renamed = RENAMED.iter().find(|(before, _)| before == name);
                    let name = renamed.map_or(name.as_str(), |(_, now)| now);
                    let file = path.strip_prefix(root).unwrap().to_owned();
                    cells.insert((file, at, name.to_owned()), value.clone());
                }
            }
        }
    }
}

fn all_cells(root: &Path) -> BTreeMap<(PathBuf, usize, String), Field> {
    let mut found = BTreeMap::new();
    cells(root, &mut found, root);
    found
}

#[test]
fn repair_keeps_every_value() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    copy(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format-1")), root);
    let before = all_cells(root);

    let old = scan(root).unwrap();
    assert!(old.segments.is_empty());
    let remedy = "format 1; run `rocescope dataset repair DATASET` to convert it";
    assert_eq!(old.unreadable.len(), 7);
    assert!(old.unreadable.iter().all(|segment| segment.reason == remedy));

    let repaired = repair(root).unwrap();
    assert_eq!(repaired.segments.len(), 1, "the journal of a killed capture");
    let converted = repaired.converted.iter().filter(|segment| segment.from == 1);
    assert_eq!(converted.count(), 8);
    assert!(repaired.unreadable.is_empty(), "{repaired:?}");

    let mut after = all_cells(root);
    assert!(after.keys().any(|(file, ..)| file.to_string_lossy().contains("killed")));
    after.retain(|(file, ..), _| !file.to_string_lossy().contains("killed"));
    // Columns that format 1 did not have are null.
    after.retain(|cell, value| before.contains_key(cell) || *value != Field::Null);
    assert!(before.len() > 600);
    assert!(before == after, "a cell has another value");

    let whole = scan(root).unwrap();
    assert!(whole.unreadable.is_empty());
    let connections: Vec<ConnectionRow> = whole.rows().unwrap();
    assert!(connections.iter().any(|row| row.fabric_lost_upstream_packets > 0));
    assert!(connections.iter().any(|row| row.fabric_lost_downstream_packets > 0));
    let pdcs: Vec<PdcRow> = whole.rows().unwrap();
    assert!(pdcs.iter().any(|row| row.fabric_lost_upstream_packets > 0));
    let windows: Vec<WindowRow> = whole.rows().unwrap();
    assert!(windows.iter().any(|row| row.mirror_duplicate_packets.is_some()));
    assert!(windows.iter().any(|row| row.capture_dropped_frames.is_some()));
    assert!(verify(root).unwrap().problems.is_empty());

    assert_eq!(repair(root).unwrap(), rocescope_store::Repaired::default());
}
