//! Snapshots of text, markdown, JSON and CSV. `UPDATE_SNAPSHOTS=1` rewrites them.

use super::Bench;
use std::fs;
use std::path::Path;

fn assert_snapshot(name: &str, found: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/report/snapshots");
    let path = folder.join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{name}, line {}", number + 1);
    }
    assert!(
        found == expected,
        "{name} is longer or shorter: UPDATE_SNAPSHOTS=1 rewrites it"
    );
}

#[test]
fn documents_match_their_snapshots() {
    let bench = Bench::with_dataset();
    let top = ["--top", "3"];
    for (name, options) in [
        ("report.txt", &["-o", "text"][..]),
        ("report.md", &["-o", "markdown"]),
        ("report.json", &["-o", "json"]),
        ("flows.csv", &["-o", "csv"]),
        ("opcodes.csv", &["-o", "csv", "--table", "opcodes"]),
        ("events.csv", &["-o", "csv", "--table", "events"]),
        ("windows.csv", &["-o", "csv", "--table", "windows"]),
    ] {
        assert_snapshot(name, &bench.report(&[options, &top].concat()));
    }
    let connections = bench.report(&["-o", "csv", "--table", "connections", "--top", "3"]);
    assert_eq!(connections.lines().count(), 1 + 6, "two rows a connection");
    let columns = connections.lines().next().unwrap().split(',').count();
    assert!(connections.lines().all(|line| line.split(',').count() == columns));
}

/// GitHub renders a table only if every row has as many cells as its heading.
#[test]
fn every_markdown_table_is_complete() {
    let text = Bench::with_dataset().report(&["-o", "markdown"]);
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut tables = 0;
    let mut before: Option<usize> = None;
    for line in text.lines() {
        let row = line.starts_with('|').then(|| cells(line));
        if let (Some(row), Some(before)) = (row, before) {
            assert_eq!(row, before, "{line}");
        }
        tables += usize::from(row.is_some() && before.is_none());
        before = row;
    }
    assert!(tables >= 8, "{tables}");
}

/// The same rows give the same bytes, although tables of flows are hashed.
#[test]
fn a_report_is_the_same_every_time() {
    let bench = Bench::with_dataset();
    assert_eq!(bench.html(&[]), bench.html(&[]));
    assert_eq!(bench.json(&[]), bench.json(&[]));
}
