//! A flipped bit in a journal: the file is kept, and every command that meets it names it.

use crate::product::captures;
use crate::product::rocescope;
use rocescope_store::{Options, Writer, scan};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Leaves the journals of a killed writer with two windows, one bit flipped in the last batch of `opcodes`.
fn leave_damaged(root: &Path) -> PathBuf {
    let capture = captures::named("rnr_nak");
    let first = root.join("first");
    rocescope::json(&capture.path, &["--out", first.to_str().unwrap()]);
    let found = scan(&first).unwrap();
    let out = root.join("out");
    let mut writer = Writer::create(&out, Options::new("local")).unwrap();
    for _ in 0..2 {
        let opcodes = found.rows::<rocescope_model::OpcodeRow>().unwrap();
        writer.append_cells(&opcodes, Instant::now()).unwrap();
    }
    let journal = scan(&out).unwrap().open[0].clone();
    let mut bytes = fs::read(&journal).unwrap();
    drop(writer);
    fs::remove_dir_all(out.join("opcodes")).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 0x10;
    fs::write(&journal, bytes).unwrap();
    journal
}

#[test]
fn repair_keeps_a_damaged_journal_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    let journal = leave_damaged(folder.path());
    let before = fs::read(&journal).unwrap();
    let out = folder.path().join("out");
    let output = rocescope::run(&["dataset", "repair", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = rocescope::text(&output.stdout);
    let line = said.lines().find(|line| line.starts_with("damaged  ")).unwrap();
    let kept = line["damaged  ".len()..].split(": ").next().unwrap();
    assert!(kept.contains("/.damaged/opcodes/"), "{said}");
    assert_eq!(fs::read(kept).unwrap(), before);
    assert!(said.contains("sealed   "), "the first batch is whole: {said}");
    assert!(scan(&out).unwrap().row_count("opcodes") > 0);
    let again = rocescope::run(&["dataset", "repair", out.to_str().unwrap()]);
    assert!(again.status.success());
}

#[test]
fn the_next_capture_names_a_damaged_journal() {
    let folder = tempfile::tempdir().unwrap();
    leave_damaged(folder.path());
    let out = folder.path().join("out");
    let capture = captures::named("rnr_nak");
    let path = capture.path.to_str().unwrap();
    let arguments = [
        "capture",
        "-q",
        "-r",
        path,
        "--observer",
        "local",
        "-o",
        "json",
        "--out",
    ];
    let output = rocescope::run(&[&arguments[..], &[out.to_str().unwrap()]].concat());
    let said = rocescope::text(&output.stderr);
    assert!(said.contains("a journal of an earlier capture is damaged"), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = summary["dataset"]["damaged_journals"][0]["path"].as_str().unwrap();
    assert!(Path::new(kept).exists(), "{kept}");
}
