//! The directory of the dataset vanishes while a capture writes it.

use crate::product::{captures, rocescope, traffic};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

/// Eight hours of a frame per second: a segment for each.
const FRAMES: usize = 28_800;

#[test]
fn the_capture_counts_on_prints_its_summary_and_fails() {
    let pcap = traffic::repeated(&captures::named("cm_rping"), FRAMES, 1_795_226_400, 1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    let root = out.to_str().unwrap();
    let capture = [
        "capture",
        "-r",
        "-",
        "--window",
        "60s",
        "--no-sketches",
        "-o",
        "json",
        "--out",
        root,
    ];
    let mut child = rocescope::command(&capture).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (first, rest) = pcap.split_at(pcap.len() / 2);
    stdin.write_all(first).unwrap();
    while !out.join("windows").is_dir() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // A segment that is sealed meanwhile makes the directory again.
    while fs::remove_dir_all(&out).is_err() {}
    stdin.write_all(rest).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = rocescope::text(&output.stderr);
    assert!(said.contains("not stored so far"), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["frames"], FRAMES);
    let stored = rocescope_store::scan(&out).unwrap().row_count("windows");
    let refused = summary["dataset"]["refused_windows"].as_u64().unwrap();
    assert!(refused > 0, "{summary}");
    // Those that were sealed before went with the directory.
    assert!(
        stored + refused <= summary["windows"].as_u64().unwrap(),
        "{stored} of {summary}"
    );
}
