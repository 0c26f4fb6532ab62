//! Too little memory, too many files, a full disk.

use super::{SECOND, expected, files, identities_hold, keep, kept, within};
use crate::product::captures::{self, Capture};
use crate::product::{rocescope, traffic};
use rocescope_capture::file::{Frame, PcapNgWriter};
use rocescope_testkit::SmallDisk;
use rocescope_wire::{FrameLengths, LinkType};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;

#[test]
fn limits_hold_and_are_counted() {
    let capture = captures::named("rnr_nak");
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| {
        let place = folder.path().join(name);
        let basic = keep("100ms", &place);
        let found = rocescope::json(&capture.path, &[&basic[..], more].concat());
        (found["recorder"].clone(), place)
    };
    let (recorder, place) = run("files", &["--keep-frames-per-hour", "1"]);
    identities_hold(&recorder, &place);
    assert_eq!((files(&place).len(), &recorder["files"]), (1, &1.into()));
    assert!(recorder["refused_events"]["per_hour"].as_u64() > Some(0));

    let limited = ["--keep-frames-disk", "8Ki"];
    let (recorder, place) = run("bytes", &limited);
    identities_hold(&recorder, &place);
    assert_eq!(recorder["cut_files"], 1);
    assert!(recorder["refused_events"]["disk"].as_u64() > Some(0));
    let bytes = recorder["bytes"].as_u64().unwrap();
    assert!((4_096..=8_192).contains(&bytes), "{bytes}");
    // Existing files count against the limit: the second run equals the first.
    let before = files(&place);
    let (again, place) = run("bytes", &limited);
    identities_hold(&again, &place);
    assert_eq!(
        (&again["deleted_files"], &again["deleted_bytes"]),
        (&1.into(), &bytes.into())
    );
    assert_eq!(again["refused_events"], recorder["refused_events"]);
    assert_eq!((before.len(), files(&place).len()), (1, 1));
}

#[test]
fn too_little_memory_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.pcap");
    let pcap = traffic::repeated(&captures::named("rnr_nak"), 5_000, 1_795_228_209, 1_000);
    fs::write(&file, pcap).unwrap();
    let place = folder.path().join("frames");
    let more = [&keep("2", &place)[..], &["--keep-frames-memory", "64Ki"]].concat();
    let recorder = &rocescope::json(&file, &more)["recorder"];
    // Frames are a millisecond apart and a hundred bytes each.
    let held_ns = recorder["held_ns"].as_u64().unwrap();
    assert!((SECOND / 3..SECOND).contains(&held_ns), "{held_ns}");
    assert!(recorder["overwritten_frames"].as_u64() > Some(4_000));
    // NAKs are more frequent than the ring's turnover: no frame between them is lost.
    assert_eq!(recorder["missed_frames"], 0);
    let path = file.to_str().unwrap();
    let output = rocescope::run(&[&["capture", "-r", path][..], &more].concat());
    let said = rocescope::text(&output.stdout);
    assert!(
        said.contains("s instead of 2 s (and 5 s until jitter is known)"),
        "{said}"
    );
}

/// A NAK every two seconds, and memory for less: the file continues, and its missing frames are counted.
#[test]
fn frames_between_two_events_that_were_overwritten_are_counted() {
    let of = captures::named("error_naks");
    let all = expected(&of);
    let (mut nak, mut other) = (Vec::new(), Vec::new());
    let mut at = 0;
    of.frames(|frame| {
        let kind = &all[at];
        if kind.refuses && nak.is_empty() {
            nak = frame.bytes.to_vec();
        } else if kind.goes_forward && other.is_empty() {
            other = frame.bytes.to_vec();
        }
        at += 1;
    });
    let mut pcapng = Vec::new();
    let mut writer = PcapNgWriter::new(&mut pcapng).unwrap();
    for number in 0..2_000 {
        let bytes = if number == 0 { &nak } else { &other };
        let frame = Frame {
            bytes,
            link: Some(LinkType::Ethernet),
            lengths: FrameLengths::whole(bytes.len() as u32),
            time_ns: 0,
            interface: 0,
        };
        writer.frame(&frame, "").unwrap();
    }
    writer.finish().unwrap();
    let cycle = Capture { pcap: pcapng, ..of };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.pcap");
    let input = Capture {
        pcap: traffic::repeated(&cycle, 8_000, 1_795_228_209, 1_000),
        ..cycle
    };
    fs::write(&file, &input.pcap).unwrap();
    let place = folder.path().join("frames");
    let more = [&keep("1.5", &place)[..], &["--keep-frames-memory", "64Ki"]].concat();
    let recorder = &rocescope::json(&file, &more)["recorder"];
    assert_eq!((&recorder["events"]["nak"], &recorder["files"]), (&4.into(), &1.into()));
    identities_hold(recorder, &place);
    let all = expected(&input);
    let refusals = all.iter().filter(|frame| frame.refuses);
    let spans: Vec<(u64, u64)> = refusals
        .map(|frame| (frame.kept.0 - SECOND * 3 / 2, frame.kept.0 + SECOND))
        .collect();
    let missed = recorder["missed_frames"].as_u64().unwrap();
    assert!(missed > 300, "{missed}");
    assert_eq!(kept(&place).len() as u64 + missed, within(&all, &spans).len() as u64);
}

/// A full disk ends the files, which stay whole, but not the capture.
#[test]
fn a_full_disk_costs_files_and_not_the_capture() {
    let Some(disk) = SmallDisk::mount("64k") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.pcap");
    let pcap = traffic::repeated(&captures::named("rnr_nak"), 20_000, 1_795_228_209, 10_000);
    fs::write(&file, pcap).unwrap();
    let capture = ["capture", "-r", file.to_str().unwrap(), "-o", "json"];
    let output = rocescope::run(&[&capture[..], &keep("10ms", disk.path())].concat());
    let said = rocescope::text(&output.stderr);
    assert!(!output.status.success());
    assert_eq!(said.matches("flight recorder stopped").count(), 2, "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["frames"], 20_000);
    let recorder = &found["recorder"];
    assert!(recorder["error"].is_string());
    assert!(recorder["refused_events"]["error"].as_u64() > Some(0));
    identities_hold(recorder, disk.path());
}

/// The file has the frames up to the end of the last window, and only whole frames.
#[test]
fn a_kill_costs_at_most_one_window() {
    const FRAMES: usize = 20_000;
    let input = Capture {
        pcap: traffic::repeated(&captures::named("rnr_nak"), FRAMES, 1_795_228_209, 1_000),
        ..captures::named("rnr_nak")
    };
    let folder = tempfile::tempdir().unwrap();
    let more = keep("2", folder.path());
    let mut child = rocescope::command(&[&["capture", "-r", "-"][..], &more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&input.pcap).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);

    let all = expected(&input);
    let refusals = all.iter().filter(|frame| frame.refuses);
    let spans: Vec<(u64, u64)> = refusals
        .map(|frame| (frame.kept.0 - 2 * SECOND, frame.kept.0 + SECOND))
        .collect();
    let (found, wanted) = (kept(folder.path()), within(&all, &spans));
    assert!(found == wanted[..found.len()]);
    // A pipe and the reader's buffer may be unread; a window has a thousand frames.
    let unread = ((64 + 256) << 10) * FRAMES / input.pcap.len();
    let min = wanted.len() - unread - 1_000;
    assert!(found.len() >= min, "{} of {min}", found.len());
}
