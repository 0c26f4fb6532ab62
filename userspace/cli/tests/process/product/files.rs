//! Several files, rotated sets and directories, as one capture; words after the options.

use crate::product::{captures, rocescope, traffic};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The records of a pcap file, each with its header.
fn records(pcap: &[u8]) -> Vec<&[u8]> {
    let mut rest = &pcap[HEADER..];
    let mut records = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let (record, behind) = rest.split_at(RECORD_HEADER + length);
        records.push(record);
        rest = behind;
    }
    records
}

/// Writes a file of these records of `pcap`.
fn write(path: &Path, pcap: &[u8], records: &[&[u8]]) {
    fs::write(path, [&[&pcap[..HEADER]], records].concat().concat()).unwrap();
}

/// What the capture counted, without the names of files.
fn counted(mut found: Value) -> Value {
    for key in ["source", "files", "runs", "input_error"] {
        found[key].take();
    }
    found
}

fn capture(arguments: &[&str]) -> Value {
    rocescope::parse(&rocescope::run(&[&["capture", "-o", "json"], arguments].concat()))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A capture in three files of a ring, whose names are not in the order of time.
fn rotated(folder: &Path) -> (captures::Capture, Vec<PathBuf>) {
    let whole = captures::named("cm_rping");
    let records = records(&whole.pcap);
    let third = records.len() / 3;
    let names = ["ring1", "ring2", "ring0"].map(|name| folder.join(name));
    let parts = [&records[..third], &records[third..2 * third], &records[2 * third..]];
    for (path, part) in names.iter().zip(parts) {
        write(path, &whole.pcap, part);
    }
    (whole, names.to_vec())
}

#[test]
fn a_rotated_set_equals_the_capture_that_was_not_rotated() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, names) = rotated(folder.path());
    let expected = capture(&["-r", text(&whole.path)]);
    let each: Vec<&str> = names.iter().map(|name| text(name)).collect();
    for call in [
        vec!["-r", each[2], "-r", each[0], "-r", each[1]],
        // As the shell expands `-r ring*`, and a directory.
        vec!["-r", each[2], each[0], each[1]],
        vec!["-r", text(folder.path())],
        vec!["-r", each[2], each[0], each[1], "src", "net", "0.0.0.0/0"],
    ] {
        let found = capture(&call);
        assert_eq!(found["files"]["read"].as_array().unwrap().len(), 3);
        assert_eq!(found["files"]["gaps"], serde_json::json!([]));
        assert_eq!(counted(found), counted(expected.clone()), "{call:?}");
    }
    let connections = |arguments: &[&str]| -> Value {
        let call = [&["connections", "-o", "json", "-r"], arguments].concat();
        let mut found = rocescope::parse(&rocescope::run(&call));
        found["source"].take();
        found
    };
    assert_eq!(connections(&each), connections(&[text(&whole.path)]));
    let extract = folder.path().join("extract");
    let call = [&["extract", "-w", text(&extract), "-r"], &each[..], &["service", "rc"]].concat();
    let call: Vec<&str> = call.into_iter().collect();
    let output = rocescope::run(&call);
    assert!(output.status.success(), "{output:?}");
    let found = capture(&["-r", text(&extract)]);
    assert_eq!(
        found["frames"],
        capture(&["-r", text(&whole.path), "service", "rc"])["roce_packets"]
    );
}

#[test]
fn files_that_overlap_are_merged_by_time_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let whole = captures::named("cm_rping");
    let records = records(&whole.pcap);
    let half = |odd: usize| -> Vec<&[u8]> { records.iter().skip(odd).step_by(2).copied().collect() };
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    write(&one, &whole.pcap, &half(0));
    write(&other, &whole.pcap, &half(1));
    let found = capture(&["-r", text(&other), "-r", text(&one)]);
    let overlap = &found["files"]["overlaps"][0];
    assert_eq!(overlap["files"], serde_json::json!([text(&one), text(&other)]));
    assert!(overlap["ns"].as_u64().unwrap() > 1_000_000);
    let expected = capture(&["-r", text(&whole.path)]);
    assert_eq!(counted(found)["opcodes"], counted(expected)["opcodes"]);

    // An hour later: a gap.
    let later = folder.path().join("later");
    fs::write(&later, traffic::repeated(&whole, 10, 2_000_000_000, 1)).unwrap();
    let output = rocescope::run(&["capture", "-r", text(&one), text(&later)]);
    let summary = rocescope::text(&output.stdout);
    let gap = format!("between {} and {}", one.display(), later.display());
    assert!(
        summary.contains("Files     2 read as one capture") && summary.contains(&gap),
        "{summary}"
    );
}

#[test]
fn a_damaged_file_is_named_and_the_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, names) = rotated(folder.path());
    let bytes = fs::read(&names[1]).unwrap();
    fs::write(&names[1], &bytes[..bytes.len() - 1]).unwrap();
    let output = rocescope::run(&["capture", "-o", "json", "-r", text(folder.path())]);
    assert!(!output.status.success());
    let error = rocescope::text(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    let damaged = format!("{}: the file ends inside a record", names[1].display());
    assert!(
        error.contains("1 of 3 files could not be read to the end: ") && error.contains(&damaged),
        "{error}"
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        found["frames"].as_u64().unwrap() as usize,
        records(&whole.pcap).len() - 1
    );
}

#[test]
fn words_that_are_no_input_and_no_filter_are_refused() {
    let capture = captures::named("cm_rping");
    let path = text(&capture.path);
    for (words, about) in [
        (&["/nowhere/a.pcap"][..], "/nowhere/a.pcap: no such file"),
        (&["hots", "10.0.0.1"], "`hots` is no file, and this is no filter: "),
        (
            &["service", "rc", "--filter", "qp 17"],
            "two filters, --filter and `service rc`",
        ),
    ] {
        let output = rocescope::run(&[&["capture", "-r", path], words].concat());
        assert_eq!(output.status.code(), Some(2));
        let error = rocescope::text(&output.stderr);
        assert!(error.contains(about), "{error}");
    }
    let output = rocescope::run(&["capture", "-i", "lo", "nowhere0"]);
    let error = rocescope::text(&output.stderr);
    assert!(error.contains("`nowhere0` is no interface"), "{error}");
    let output = rocescope::run(&["extract", "-r", path, "-w", "-"]);
    assert!(rocescope::text(&output.stderr).contains("no filter: add one, such as `host 10.0.0.1`"));
}
