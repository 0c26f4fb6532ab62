//! Wrong inputs and paths: one clear line, exit code not 0.

use crate::product::{captures, rocescope, traffic};
use std::fs;
use std::path::Path;

/// Runs `rocescope`, which must fail and print `about` in one line on standard error.
fn refused(arguments: &[&str], about: &str) -> Vec<u8> {
    let output = rocescope::run(arguments);
    let said = rocescope::text(&output.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("rocescope: "), "{said}");
    assert!(said.contains(about), "{said}");
    assert!(!output.status.success());
    output.stdout
}

/// Captures a file with these bytes, which must fail before it counts anything.
fn refused_file(bytes: &[u8], about: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.pcap");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    let stdout = refused(&["capture", "-r", path], &format!("{path}: {about}"));
    assert!(stdout.is_empty());
}

#[test]
fn a_missing_file() {
    let stdout = refused(&["capture", "-r", "/nowhere/a.pcap"], "/nowhere/a.pcap: No");
    assert!(stdout.is_empty());
}

#[test]
fn a_text_file() {
    refused_file(b"this is no capture\n", "not a capture file");
}

#[test]
fn an_empty_file() {
    refused_file(b"", "the file is empty");
}

#[test]
fn an_unsupported_link_layer() {
    let mut pcap = captures::named("error_naks").pcap;
    pcap[20] = 105;
    refused_file(&pcap, "link type 105 is not supported");
}

#[test]
fn a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    refused(
        &["capture", "-r", path],
        &format!("{path}: no capture files in this directory"),
    );
}

#[test]
fn a_dataset_in_an_unwritable_directory() {
    let capture = captures::named("error_naks");
    let file = capture.path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "a file").unwrap();
    // Not even root can create directories in /proc.
    for out in [taken.as_path(), &taken.join("below"), Path::new("/proc/rocescope")] {
        let out = out.to_str().unwrap();
        let stdout = refused(&["capture", "-r", file, "--out", out], out);
        assert!(stdout.is_empty());
    }
    let out = taken.to_str().unwrap();
    refused(
        &["capture", "-r", file, "--out", out],
        &format!("{out}: a file, but a dataset is a directory"),
    );
}

#[test]
fn a_missing_dataset_cannot_be_repaired() {
    refused(&["repair", "/nowhere"], "/nowhere");
    let empty = tempfile::tempdir().unwrap();
    refused(&["repair", empty.path().to_str().unwrap()], "contains no dataset");
}

/// The counts before the damage are still printed.
#[test]
fn a_file_that_is_cut_short() {
    let capture = captures::named("cm_rping");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    let end = traffic::bytes_of_first(&capture.pcap, 100) + 5;
    fs::write(&path, &capture.pcap[..end]).unwrap();
    let path = path.to_str().unwrap();
    let stdout = refused(&["capture", "-r", path, "-o", "json"], "the file ends inside a record");
    let found: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(found["frames"], 100);
    assert!(found["input_error"].is_string());
    // The dataset knows it too.
    let root = folder.path().join("dataset");
    let root = root.to_str().unwrap();
    refused(&["capture", "-r", path, "--out", root], "the file ends inside a record");
    let report = rocescope::run(&["report", root]);
    let report = rocescope::text(&report.stdout);
    assert!(
        report.contains("An input was not read to its end (damaged: "),
        "{report}"
    );
    assert!(!report.contains("Complete:"), "{report}");
}

/// Figures of 0 would look like a finding.
#[test]
fn a_file_without_frames() {
    let capture = captures::named("cm_rping");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header.pcap");
    fs::write(&path, &capture.pcap[..24]).unwrap();
    let path = path.to_str().unwrap();
    for arguments in [&["capture", "-r"][..], &["diagnose"], &["report"], &["connections"]] {
        let arguments = [arguments, &[path]].concat();
        assert!(refused(&arguments, "header.pcap has no frames").is_empty());
    }
}

/// Other tools capture all interfaces by this name.
#[test]
fn any_is_no_interface() {
    refused(&["capture", "-i", "any"], "name interfaces, as `-i eth2 -i eth3`");
}

/// Each message names what was wrong and what to do instead, and a usage line is that of the command.
#[test]
fn wrong_input_is_answered_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let capture = captures::named("cm_rping");
    let (file, text, packed) = (path("a.pcap"), path("text"), path("cut.gz"));
    fs::write(&file, &capture.pcap).unwrap();
    fs::write(&text, "hello\n").unwrap();
    let gzip = fs::read(&capture.path).unwrap();
    fs::write(&packed, &gzip[..gzip.len() / 2]).unwrap();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/demo.toml");
    let (file, text, packed, missing) = (file.as_str(), text.as_str(), packed.as_str(), path("x"));
    for (arguments, about) in [
        (&["capture"][..], "Usage: rocescope capture "),
        (
            &["connections"],
            "no input: name a dataset, or set --read or --interface",
        ),
        (
            &["generate", scenario],
            "no destination: set --write FILE, or --iface IFACE to send the frames",
        ),
        (
            &["generate", file, "-w", &missing],
            "is not a scenario (docs/scenarios.md)",
        ),
        (
            &["generate", text, "-w", &missing],
            "is not a scenario (docs/scenarios.md)",
        ),
        (&["capture", "-r", text], "but it starts with the text \"hello\\n\""),
        (
            &["capture", "-r", packed],
            "the compressed data is damaged or ends early",
        ),
        (
            &["capture", "-r", &path("*.pcap")],
            "the shell expands a pattern without quotes",
        ),
        (
            &["capture", "-r", file, "--window", "5"],
            "expected a duration, such as 1s or 100ms",
        ),
        (
            &["capture", "-r", file, "--top", "x"],
            "expected a whole number from 0, such as 20",
        ),
        (&["capture", "-r", file, "--udp-port", "0"], "use one from 1 to 65535"),
        (
            &["capture", "-r", file, "--keep-frames", "x"],
            "such as 10 (seconds) or 500ms",
        ),
        (&["capture", "-i", "lo", "--metrics", "9464"], "such as 127.0.0.1:9464"),
        (
            &["capture", "-r", file, "--filter", "rtt_p99_ns > 50us"],
            "(a column of connections, pdcs); packets have src",
        ),
        (
            &["connections", "-r", file, "--filter", "unfilled_gap > 0"],
            "did you mean `unfilled_gaps`?",
        ),
        (&["report", &missing], "no such directory"),
        (&["report", "d", "--from", "2300-01-01"], "between 1970 and 2262"),
        (&["report", "d", "--last", "-5m"], "expected a duration"),
        (&["report", "d", "--from", "-5"], "such as -1h or -90s"),
        (
            &["capture", "-r", file, "-w", "-", "-o", "jsonl"],
            "standard output carries the frames of `--write -`: write them to a file for `-o jsonl`",
        ),
        (
            &["extract", "-r", file, "-w", "/nowhere/x", "qp", "1"],
            "cannot write /nowhere/x: No such",
        ),
    ] {
        let output = rocescope::run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let error = rocescope::text(&output.stderr);
        assert!(error.contains(about), "{arguments:?}: {error}");
    }
}
