//! `--count` and `--write`: the frames that match the filter.

use crate::product::{captures, rocescope};
use rocescope_capture::file::{self, FrameReader};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Time and bytes of every frame.
fn frames(path: &Path) -> Vec<(u64, Vec<u8>)> {
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push((frame.time_ns, frame.bytes.to_vec()));
    }
    frames
}

#[test]
fn a_capture_stops_after_the_number_of_frames_that_match() {
    let capture = captures::named("cm_rping");
    let all = rocescope::json(&capture.path, &[]);
    let ten = rocescope::json(&capture.path, &["-c", "10"]);
    assert_eq!(ten["frames"], 10);
    // Frames that do not match are seen, but do not count.
    let matching = rocescope::json(&capture.path, &["-c", "10", "service", "rc"]);
    assert_eq!(matching["roce_packets"], 10);
    assert!(matching["frames"].as_u64() > Some(10) && matching["frames"].as_u64() < all["frames"].as_u64());
    let more = rocescope::json(&capture.path, &["-c", "1000000"]);
    assert_eq!(more["frames"], all["frames"]);
}

#[test]
fn written_frames_are_those_that_match() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("written.pcapng");
    let capture = captures::named("cm_rping");
    let whole = rocescope::json(&capture.path, &["-w", to.to_str().unwrap()]);
    assert_eq!(frames(&to), frames(&capture.path));
    assert_eq!(whole["written"]["frames"], whole["frames"]);
    let some = ["-w", to.to_str().unwrap(), "-c", "7", "--filter", "service rc"];
    let seven = rocescope::json(&capture.path, &some);
    assert_eq!((&seven["written"]["frames"], frames(&to).len()), (&7.into(), 7));
    let again = rocescope::json(&to, &[]);
    assert_eq!(again["roce_packets"], 7);

    let path = to.to_str().unwrap();
    for (arguments, about) in [
        (&["-r", path, "-w", path][..], "is both input and output"),
        (&["-r", path, "-w", "/nowhere/x.pcapng"], "/nowhere/x.pcapng"),
    ] {
        let refused = rocescope::run(&[&["capture"], arguments].concat());
        assert!(!refused.status.success());
        let error = rocescope::text(&refused.stderr);
        assert!(error.contains(about), "{error}");
    }
    assert_eq!(frames(&to).len(), 7, "an input is never overwritten");
    let key = "0123456789abcdeffedcba98765432101032547698badcfeefcdab8967452301";
    let refused = rocescope::run(&["capture", "-r", path, "-w", "x", "--anonymize", key]);
    assert!(rocescope::text(&refused.stderr).contains("--write writes frames with their original addresses"));
}

/// The frames go to standard output alone, the summary to standard error; a reader that leaves ends the capture.
#[test]
fn standard_output_carries_the_frames() {
    let capture = captures::named("cm_rping");
    let path = capture.path.to_str().unwrap();
    let output = rocescope::run(&["capture", "-r", path, "-o", "json", "-w", "-"]);
    assert!(output.status.success());
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("piped");
    fs::write(&to, &output.stdout).unwrap();
    assert_eq!(frames(&to), frames(&capture.path));
    let summary: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(summary["written"]["path"], "-");

    let mut left = rocescope::command(&["capture", "-r", path, "-w", "-"]);
    let mut child = left.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

/// The frames of all files of a set, one after the other, are those of one file; a ring has the newest of them.
#[test]
fn frames_go_into_a_set_of_files_and_a_ring_keeps_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("ring.pcapng");
    let scenario = folder.path().join("writes.toml");
    let flow = "[[flows]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\nmessage = \"4KiB\"\nrate = \"1Gbit/s\"\n";
    fs::write(&scenario, format!("name = \"writes\"\nframes = 400\n\n{flow}")).unwrap();
    let capture = folder.path().join("all.pcap");
    let made = rocescope::run(&[
        "generate",
        scenario.to_str().unwrap(),
        "--write",
        capture.to_str().unwrap(),
    ]);
    assert!(made.status.success(), "{}", rocescope::text(&made.stderr));
    let written = |more: &[&str]| {
        let whole = rocescope::json(&capture, &[&["-w", to.to_str().unwrap(), "-C", "64Ki"], more].concat());
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut set: Vec<_> = entries
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("ring_"))
            .collect();
        set.sort();
        let found: Vec<_> = set.iter().flat_map(|path| frames(path)).collect();
        set.iter().for_each(|path| fs::remove_file(path).unwrap());
        (whole["written"].clone(), set.len() as u64, found)
    };
    let all = frames(&capture);
    let (summary, files, found) = written(&[]);
    assert!(files > 3, "{summary}");
    assert_eq!(
        (&summary["files"], &summary["deleted_files"]),
        (&files.into(), &0.into())
    );
    assert_eq!(found, all);
    let (summary, kept, newest) = written(&["-W", "2"]);
    assert_eq!((kept, &summary["deleted_files"]), (2, &(files - 2).into()));
    assert!(!newest.is_empty() && all.ends_with(&newest));

    let path = capture.to_str().unwrap();
    for (arguments, about) in [
        (&["-w", "x.pcapng", "-C", "100"][..], "expected 64Ki at least"),
        (&["-w", "x.pcapng", "-W", "3"], "say with --write-bytes or --write-age"),
        (&["-w", "-", "-C", "1M"], "standard output is one"),
        (&["-C", "1M"], "--write <FILE>"),
    ] {
        let refused = rocescope::run(&[&["capture", "-r", path], arguments].concat());
        let error = rocescope::text(&refused.stderr);
        assert!(!refused.status.success() && error.contains(about), "{error}");
    }
}

/// A full disk ends the file, not the capture.
#[test]
fn a_full_disk_ends_the_file_of_frames() {
    let capture = captures::named("cm_rping");
    let path = capture.path.to_str().unwrap();
    let output = rocescope::run(&["capture", "-r", path, "-o", "json", "-w", "/dev/full"]);
    assert!(!output.status.success());
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["frames"], rocescope::json(&capture.path, &[])["frames"]);
    assert!(summary["written"]["error"].as_str().unwrap().contains("No space left"));
    let error = rocescope::text(&output.stderr);
    assert!(error.contains("the capture goes on without") && error.contains("the frames in /dev/full end early"));
}

#[test]
fn interfaces_are_listed() {
    let text = rocescope::run(&["capture", "-D"]);
    let text = rocescope::text(&text.stdout);
    assert!(
        text.starts_with("name  ") && text.lines().any(|line| line.starts_with("lo  ")),
        "{text}"
    );
    let json = rocescope::parse(&rocescope::run(&["capture", "-D", "-o", "json"]));
    let all = json["interfaces"].as_array().unwrap();
    let loopback = all.iter().find(|port| port["name"] == "lo").unwrap();
    assert_eq!(loopback["index"], 1);
    for key in ["state", "speed_mbps", "driver", "xdp", "rdma_devices", "mtu_bytes"] {
        assert!(loopback.get(key).is_some(), "{key}");
    }
}
