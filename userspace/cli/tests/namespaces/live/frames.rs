//! `--count` and `--write` of a live capture.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_capture::file::{self, FrameReader};
use rocescope_testkit::binary;
use std::path::Path;

fn frames(path: &Path) -> Vec<Vec<u8>> {
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push(frame.bytes.to_vec());
    }
    frames
}

#[test]
fn a_live_capture_writes_its_frames_and_stops_after_the_last() {
    let (Some(namespace), Some(path)) = (Namespace::new(), capture("rnr_nak")) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("frames.pcapng");
    let live = Live::begin(&namespace, &["-q", "-w", to.to_str().unwrap(), "-c", "50"]);
    replay(&namespace, &path);
    let (summary, said) = live.end();
    assert_eq!(said, "");
    assert_eq!(
        (&summary["frames"], &summary["written"]["frames"]),
        (&50.into(), &50.into())
    );
    assert_eq!(summary["live"]["interfaces"][0]["mode"], "af_packet");
    assert_eq!(frames(&to), frames(&path)[..50]);
}

#[test]
fn xdp_delivers_no_frames_to_write() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for (option, value) in [("--write", "/dev/null"), ("--count", "1")] {
        let mut command = namespace.command(binary());
        let output = command
            .args(["capture", "-i", RECEIVER, "--mode", "native", option, value])
            .output()
            .unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        let why = format!("{option} requires frames, which XDP does not deliver: use --mode af-packet");
        assert!(said.contains(&why), "{said}");
    }
}
