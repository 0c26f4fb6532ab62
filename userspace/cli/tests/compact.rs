//! `rocescope compact`, as a user calls it.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn rocescope(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn text(arguments: &[&str], folder: &Path) -> String {
    let output = rocescope(arguments, folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn windows(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.join("data/windows")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

/// A capture that seals a segment for every few windows.
fn captured(folder: &Path) {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let options = ["--window", "10ms", "--segment-bytes", "1", "--observer", "rail3"];
    let file = captures.join("write_bw_rc_bidir_q2.pcap.gz");
    let call = ["capture", "-q", "-r", file.to_str().unwrap(), "--out", "data"];
    text(&[&call[..], &options].concat(), folder);
}

#[test]
fn small_segments_are_joined_and_reports_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    captured(folder);
    let before = windows(folder);
    assert!(before.len() > 2, "{before:?}");
    let report = text(&["report", "data", "-o", "json"], folder);
    let left = text(&["compact", "data", "--settle", "99years"], folder);
    assert_eq!(left, "nothing to compact\n");
    let joined: Value = serde_json::from_str(&text(&["compact", "data", "-o", "json"], folder)).unwrap();
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
    assert_eq!(text(&["compact", "data"], folder), "nothing to compact\n");
    assert!(text(&["verify", "data"], folder).ends_with("no problems\n"));
    assert_eq!(text(&["report", "data", "-o", "json"], folder), report);
    assert!(!rocescope(&["compact", "nowhere"], folder).status.success());
}
