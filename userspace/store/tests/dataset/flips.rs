//! One flipped bit in any segment: no number changes without a word, and nothing panics.

use crate::rows::{SECOND, read, scratch, together, window};
use rocescope_model::{CAPTURE_TABLES, WindowRows};
use rocescope_store::{Options, Scan, Writer, scan, verify};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Flips in each segment.
const FLIPS: usize = 250;

fn dataset(root: &Path) -> WindowRows {
    let windows = [window(0), window(SECOND), window(2 * SECOND)];
    let mut writer = Writer::create(root, Options::new("rail3")).unwrap();
    for rows in &windows {
        writer.append(rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    together(windows)
}

/// Reads all tables, and returns what was found damaged meanwhile.
fn read_all(root: &Path) -> (WindowRows, Vec<rocescope_store::Unreadable>) {
    let found: Scan = scan(root).unwrap();
    let rows = WindowRows {
        windows: found.rows().unwrap(),
        flows: found.rows().unwrap(),
        opcodes: found.rows().unwrap(),
        events: found.rows().unwrap(),
        connections: found.rows().unwrap(),
    };
    (rows, found.damaged())
}

/// Returns the rows without those of one table.
fn without(table: &str, rows: &WindowRows) -> WindowRows {
    let mut rows = rows.clone();
    match table {
        "windows" => rows.windows.clear(),
        "flows" => rows.flows.clear(),
        "opcodes" => rows.opcodes.clear(),
        "events" => rows.events.clear(),
        _ => rows.connections.clear(),
    }
    rows
}

#[test]
fn a_flipped_bit_of_a_segment_is_named_and_the_segment_is_skipped() {
    let root = scratch();
    let whole = dataset(root.path());
    assert_eq!(verify(root.path()).unwrap().problems, []);
    assert_eq!(verify(root.path()).unwrap().unverified, [] as [&Path; 0]);
    let segments = scan(root.path()).unwrap().segments;
    assert_eq!(segments.len(), CAPTURE_TABLES.len());
    let mut state = 7_u64;
    for segment in segments {
        let bytes = fs::read(&segment.path).unwrap();
        for _ in 0..FLIPS {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bit = (state >> 33) as usize % (bytes.len() * 8);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&segment.path, damaged).unwrap();
            let (rows, named) = read_all(root.path());
            let at = format!("{} bit {bit}", segment.table);
            if named.is_empty() {
                assert_eq!(rows, whole, "{at}: changed without a word");
            } else {
                assert_eq!(named[0].path, segment.path, "{at}");
                assert_eq!(rows, without(&segment.table, &whole), "{at}");
            }
            let verified = verify(root.path()).unwrap();
            let problems: Vec<_> = verified.problems.iter().map(|file| file.path.clone()).collect();
            assert_eq!(problems, std::slice::from_ref(&segment.path), "{at}");
        }
        fs::write(&segment.path, bytes).unwrap();
    }
    assert_eq!(read(root.path()).unwrap(), whole);
}
