//! `rocescope dataset compact`, as a user calls it.

use rocescope_testkit::{command, run_in};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn text(arguments: &[&str], folder: &Path) -> String {
    rocescope_testkit::text(&run_in(arguments, folder))
}

fn windows(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.join("data/windows")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Captures of the same hour: each seals segments of its own.
const CAPTURES: [&str; 4] = ["write_bw_rc_bidir_q2", "write_lat_rc", "send_bw_uc", "send_bw_ud"];

/// Reads them as streams: segments of different files have different metadata, and are not joined.
fn captured(folder: &Path) {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    for name in CAPTURES {
        let file = fs::File::open(captures.join(format!("{name}.pcap.gz"))).unwrap();
        let mut command = command(["capture", "-q", "-r", "-", "--out", "data", "--observer", "rail3"]);
        let output = command.current_dir(folder).stdin(file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn small_segments_are_joined_and_reports_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    captured(folder);
    let before = windows(folder);
    assert_eq!(before.len(), CAPTURES.len());
    let report = text(&["report", "data", "-o", "json"], folder);
    let left = text(&["dataset", "compact", "data", "--settle", "5000w"], folder);
    assert_eq!(left, "nothing to compact\n");
    let joined: Value = serde_json::from_str(&text(&["dataset", "compact", "data", "-o", "json"], folder)).unwrap();
    let of_windows = joined["joined"]
        .as_array()
        .unwrap()
        .iter()
        .find(|table| table["table"] == "windows");
    let of_windows = of_windows.unwrap();
    assert_eq!(of_windows["replaced_segments"], before.len());
    assert_eq!(of_windows["segments"], 1);
    let after = windows(folder);
    assert_eq!(after.len(), 1);
    assert_eq!(text(&["dataset", "compact", "data"], folder), "nothing to compact\n");
    assert!(text(&["dataset", "verify", "data"], folder).ends_with("no problems\n"));
    assert_eq!(text(&["report", "data", "-o", "json"], folder), report);
    assert!(!run_in(&["dataset", "compact", "nowhere"], folder).status.success());
}
