//! What hours of nearly no traffic cost, in counted work: bytes of the dataset, segments and their syncs. Not in time.

use rocescope_generate::{self as generate, Scenario};
use rocescope_model::WindowRow;
use rocescope_store::scan;
use rocescope_testkit::binary;
use std::path::Path;
use std::process::Command;

/// Two messages and two acknowledgements a second: four flows in each window.
const HOURS: u64 = 2;
const SCENARIO: &str = r#"
    duration = "119min"
    [[flows]]
    count = 2
    src = "10.60.0.0/24"
    dst = "10.61.0.0/24"
    message = 1024
    rate = "8.784kbit/s"
"#;

fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| match entry.metadata().unwrap() {
            metadata if metadata.is_dir() => bytes_below(&entry.path()),
            metadata => metadata.len(),
        })
        .sum()
}

/// A window of a second with four flows has two Count-Min tables of half a megabyte. It was 4,400 bytes of dataset and
/// a millisecond, and its megabyte filled a segment, with its syncs, after each minute.
#[test]
#[ignore = "takes 98 s; `cargo xtask ci --full` runs it"]
fn a_nearly_empty_window_costs_bytes_and_no_segment_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (capture, out) = (folder.path().join("quiet.pcap"), folder.path().join("dataset"));
    let scenario = Scenario::parse(SCENARIO).unwrap();
    generate::write(&scenario, 7, &mut std::fs::File::create(&capture).unwrap()).unwrap();
    let mut command = Command::new(binary());
    command
        .args(["capture", "--quiet", "--read"])
        .arg(&capture)
        .arg("--out")
        .arg(&out);
    assert!(command.output().unwrap().status.success());

    let found = scan(&out).unwrap();
    let windows: Vec<WindowRow> = found.rows().unwrap();
    assert_eq!(windows.len() as u64, HOURS * 3_600 - 60);
    let a_window = bytes_below(&out) / windows.len() as u64;
    assert!(a_window < 600, "{a_window} bytes a window");
    // Each segment is synced once: one for each hour and table.
    let tables = ["windows", "flows", "opcodes", "events"];
    for table in tables {
        let segments = found.table(table).count() as u64;
        assert!(segments <= HOURS, "{segments} segments of {table}");
    }
    for window in windows.iter().step_by(997) {
        // All flows are listed.
        assert_eq!(window.count_min_packets, None);
        assert_eq!(window.linear_counting.as_ref().unwrap().len(), 4_096);
    }
}
