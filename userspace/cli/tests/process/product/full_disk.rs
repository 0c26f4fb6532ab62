//! A full disk costs only later rows: the message is clear, and sealed segments stay whole.

use crate::product::{captures, rocescope, traffic};
use rocescope_testkit::SmallDisk;
use std::fs;

#[test]
fn earlier_segments_stay_whole() {
    // A segment per hour: a few fit.
    let Some(disk) = SmallDisk::mount("1m") else {
        return;
    };
    let scan = fill(&disk, 28_700, &["--no-sketches"]);
    assert!(scan.row_count("windows") > 100);
}

#[test]
fn a_disk_too_small_for_one_segment_has_the_same_message() {
    if let Some(disk) = SmallDisk::mount("32k") {
        fill(&disk, 600, &[]);
    }
}

/// Captures one frame every ten seconds onto a disk that is too small. Returns the rest of the dataset.
fn fill(disk: &SmallDisk, frames: usize, arguments: &[&str]) -> rocescope_store::Scan {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.pcap");
    let pcap = traffic::repeated(&captures::named("cm_rping"), frames, 1_795_228_209, 10_000_000);
    fs::write(&file, pcap).unwrap();
    let (file, root) = (file.to_str().unwrap(), disk.path().to_str().unwrap());
    let capture = ["capture", "-r", file, "--window", "60s", "-o", "json"];
    let output = rocescope::run(&[&capture, ["--out", root].as_slice(), arguments].concat());

    let said = rocescope::text(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.lines().all(|line| line.contains("the disk is full")
            || line.contains("the disk was full")
            || line.contains("written again")),
        "{said}"
    );
    let last = said.lines().last().unwrap();
    assert!(last.contains("windows were not written"), "{said}");
    // The capture still counted frames.
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["frames"], frames);
    let refused = found["dataset"]["refused_windows"].as_u64().unwrap();
    assert!(refused > 0);

    let scan = rocescope_store::scan(disk.path()).unwrap();
    assert_eq!(scan.unreadable, []);
    let windows = scan.rows::<rocescope_model::WindowRow>().unwrap();
    assert_eq!(windows.len() as u64, scan.row_count("windows"));
    let written = found["windows"].as_u64().unwrap() - refused;
    assert!(windows.len() as u64 <= written);
    scan
}
