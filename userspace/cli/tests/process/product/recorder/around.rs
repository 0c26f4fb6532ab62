//! The frames of every event.

use super::{Expected, Kept, SECOND, expected, files, identities_hold, keep, kept, sum, within};
use crate::product::captures::{self, Capture};
use crate::product::rocescope;
use rocescope_model::EventRow;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Compared with a second pass over the whole capture: the frames within a second of every NAK, once each and in order,
/// headers without payload.
#[test]
fn around_every_nak() {
    for (name, naks, rnr_naks) in [("rnr_nak", 13, 55), ("error_naks", 4, 0)] {
        let capture = captures::named(name);
        let folder = tempfile::tempdir().unwrap();
        for (seconds, before_ns) in [("1", SECOND), ("250ms", SECOND / 4)] {
            let place = &folder.path().join(seconds);
            let found = rocescope::json(&capture.path, &keep(seconds, place));
            let recorder = &found["recorder"];
            assert_eq!(
                (&recorder["events"]["nak"], &recorder["events"]["rnr_nak"]),
                (&naks.into(), &rnr_naks.into())
            );
            let all = expected(&capture);
            let refusals = all.iter().filter(|frame| frame.refuses);
            let spans: Vec<(u64, u64)> = refusals
                .map(|frame| (frame.kept.0 - before_ns, frame.kept.0 + SECOND))
                .collect();
            assert_eq!(spans.len() as u64, naks + rnr_naks);
            assert_eq!(kept(place), within(&all, &spans), "{name} {seconds}");
            identities_hold(recorder, place);
            // One file for each span that overlaps no other.
            let apart = spans.windows(2).filter(|two| two[1].0 > two[0].1).count();
            assert_eq!(files(place).len(), apart + 1, "{name} {seconds}");
        }
    }
}

/// The demo, in which flows change their rates and a few packets are lost.
struct Demo {
    /// Every frame as the recorder should keep it.
    all: Vec<Expected>,
    /// Times of the rows of jitter.
    jitter: Vec<u64>,
    recorder: Value,
    kept: Vec<Kept>,
}

impl Demo {
    const BEFORE_NS: u64 = SECOND / 10;
    const WINDOW_NS: u64 = SECOND / 10;

    fn run(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (input, data) = (place("in.pcap"), place("data"));
        let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/demo.toml");
        let made = rocescope::run(&["generate", scenario, "--write", &input]);
        assert!(made.status.success());
        let capture = Capture {
            name: "demo".into(),
            path: input.into(),
            pcap: fs::read(place("in.pcap")).unwrap(),
        };
        let basic = [
            &["--window", "100ms", "--lateness", "50ms"][..],
            &["--elephant", "10M", "--jitter-absolute", "10M"],
            &["--keep-frames", "0.1", "--out", &data],
        ];
        let mut found = rocescope::json(&capture.path, &[&basic.concat(), more].concat());
        let recorder = found["recorder"].take();
        let frames = Path::new(&data).join("_frames");
        identities_hold(&recorder, &frames);
        let scan = rocescope_store::scan(Path::new(&data)).unwrap();
        assert_eq!(scan.unreadable, []);
        let rows = scan.rows::<EventRow>().unwrap();
        let jitter = rows.iter().filter(|row| &*row.kind == "jitter");
        let jitter: Vec<u64> = jitter.map(|row| row.time_ns as u64).collect();
        assert!(jitter.len() > 3, "{jitter:?}");
        assert_eq!(recorder["events"]["jitter"], jitter.len());
        // No table scan reads the recorder's files.
        let report = rocescope::run(&["report", &data]);
        assert!(report.status.success());
        assert!(!rocescope::text(&report.stdout).contains("/_frames"));
        Self {
            all: expected(&capture),
            jitter,
            recorder,
            kept: kept(&frames),
        }
    }

    /// Spans from before a change to the end of its window.
    fn spans(&self) -> Vec<(u64, u64)> {
        let times = self.jitter.iter();
        times
            .map(|time| (time - Self::BEFORE_NS, time + Self::WINDOW_NS + SECOND))
            .collect()
    }
}

/// Jitter is known only when the next window closes: the recorder must still have its frames.
#[test]
fn around_jitter() {
    // The filter rejects the NAKs, and with them all other acknowledgements.
    let mut demo = Demo::run(&["--filter", "not opcode RC_ACKNOWLEDGE"]);
    let jitter = demo.jitter.len() as u64;
    assert_eq!(sum(&demo.recorder["events"]), jitter);
    // Frames other than RoCEv2 match no filter.
    demo.all.retain(|frame| frame.goes_forward);
    assert!(demo.kept == within(&demo.all, &demo.spans()));
    assert_eq!(demo.recorder["missed_frames"], 0);
}

/// A NAK begins a file before the jitter of its window is known. The jitter then requests frames from before the
/// beginning of the file: those are counted.
#[test]
fn around_naks_and_jitter() {
    let demo = Demo::run(&[]);
    let mut spans = demo.spans();
    let refusals = demo.all.iter().filter(|frame| frame.refuses);
    spans.extend(refusals.map(|frame| (frame.kept.0 - Demo::BEFORE_NS, frame.kept.0 + SECOND)));
    let events = sum(&demo.recorder["events"]);
    assert_eq!(events, spans.len() as u64);
    assert!(events > demo.jitter.len() as u64);
    let wanted = within(&demo.all, &spans);
    let missed = demo.recorder["missed_frames"].as_u64().unwrap();
    assert!(missed > 0);
    assert_eq!(demo.kept.len() as u64 + missed, wanted.len() as u64);
    // All but the first.
    assert!(wanted.ends_with(&demo.kept));
}

/// Wireshark opens them, names the events, and reads every header.
#[test]
fn wireshark_reads_the_files() {
    let capture = captures::named("rnr_nak");
    let folder = tempfile::tempdir().unwrap();
    let more = keep("1", folder.path());
    let found = rocescope::json(&capture.path, &more);
    let (mut frames, mut comments) = (0, 0);
    for path in files(folder.path()) {
        let output = Command::new("tshark")
            .args(["-d", "udp.port==4791,infiniband", "-T", "fields", "-E", "separator=|"])
            .args(["-e", "frame.len", "-e", "infiniband.bth.opcode"])
            .args(["-e", "infiniband.aeth.syndrome", "-e", "frame.comment", "-r"])
            .arg(&path)
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: tshark is not installed");
            return;
        };
        assert!(output.status.success(), "{output:?}");
        for line in rocescope::text(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('|').collect();
            frames += 1;
            let is_refusal =
                fields[1] == "17" && !["", "0", "31"].contains(&fields[2]) && fields[2].parse::<u8>().unwrap() > 31;
            assert_eq!(!fields[3].is_empty(), is_refusal, "{line}");
            comments += usize::from(is_refusal);
        }
    }
    assert_eq!(found["recorder"]["frames"], frames);
    assert_eq!(comments, 68);
}
