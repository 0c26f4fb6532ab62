//! The flight recorder: frames around events, tags included.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_capture::file::{self, Frame, FrameReader, PcapNgWriter};
use rocescope_testkit::binary;
use rocescope_wire::FrameLengths;
use std::fs::{self, File};
use std::path::Path;

/// Frames of a file: length on the wire, and bytes.
fn frames(path: &Path) -> Vec<(u32, Vec<u8>)> {
    let mut frames = Vec::new();
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        frames.push((frame.lengths.original, frame.bytes.to_vec()));
    }
    frames
}

/// Inserts a VLAN 7 tag into every frame.
fn tagged(from: &Path, to: &Path) {
    let mut writer = PcapNgWriter::new(File::create(to).unwrap()).unwrap();
    let mut reader = FrameReader::new(file::open(from).unwrap()).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        let (addresses, rest) = frame.bytes.split_at(12);
        let bytes = [addresses, &[0x81, 0, 0, 7], rest].concat();
        let frame = Frame {
            bytes: &bytes,
            lengths: FrameLengths::whole(bytes.len() as u32),
            ..frame
        };
        writer.frame(&frame, "").unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_packet_socket_records_all_frames() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("tagged.pcapng");
    tagged(&capture("rnr_nak").unwrap(), &input);
    let place = folder.path().join("frames");
    let more = [
        "-q",
        "--keep-frames",
        "30",
        "--keep-frames-dir",
        place.to_str().unwrap(),
    ];
    let live = Live::begin(&namespace, &more);
    replay(&namespace, &input);
    let (summary, said) = live.stop();
    assert_eq!(said, "");
    assert_eq!(summary["live"]["interfaces"][0]["mode"], "af_packet");
    let recorder = &summary["recorder"];
    assert_eq!(
        (&recorder["events"]["nak"], &recorder["events"]["rnr_nak"]),
        (&13.into(), &55.into())
    );
    // All arrived within the 30 s before the last NAK and the second after it.
    let paths: Vec<_> = fs::read_dir(&place)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(paths.len(), 1);
    let (sent, kept) = (frames(&input), frames(&paths[0]));
    assert_eq!(sent.len(), kept.len());
    for ((sent_length, sent), (length, kept)) in sent.iter().zip(&kept) {
        assert_eq!(length, sent_length);
        assert!(sent.starts_with(kept));
        assert!(kept.len() >= 58 && kept.len() < 80);
    }
    let bytes = fs::read(&paths[0]).unwrap();
    let name = RECEIVER.as_bytes();
    assert!(bytes.windows(name.len()).any(|window| window == name));
}

#[test]
fn xdp_hands_over_no_frames() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    for mode in ["native", "generic"] {
        let mut command = namespace.command(binary());
        command.args(["capture", "-i", RECEIVER, "--mode", mode]);
        command.args(["--keep-frames", "1", "--keep-frames-dir", place]);
        let output = command.output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("--mode af-packet"), "{said}");
    }
    let mut command = namespace.command(binary());
    command.args(["capture", "-i", RECEIVER, "--duration", "50ms"]);
    command.args(["--keep-frames", "1", "--keep-frames-dir", place]);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let why = "with af_packet, arriving frames only: --keep-frames requires frames, which XDP does not deliver";
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!("capturing on {RECEIVER} {why}\n")
    );
}

/// Guards against a configuration file that makes `--check` write.
#[test]
fn a_check_writes_nothing_with_any_configuration() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (file, root) = (folder.path().join("it.toml"), folder.path().join("data"));
    let text = format!("[capture]\nout = {:?}\nkeep-frames = 10\n", root.to_str().unwrap());
    fs::write(&file, text).unwrap();
    let mut command = namespace.command(binary());
    command.args(["capture", "-i", RECEIVER, "--config"]).arg(&file);
    let begun = command.args(["--duration", "50ms"]).output().unwrap();
    assert!(begun.status.success(), "{begun:?}");
    assert!(root.join("_frames").is_dir());
    fs::remove_dir_all(&root).unwrap();
    let mut command = namespace.command(binary());
    command.args(["capture", "-i", RECEIVER, "--config"]).arg(&file);
    command.args(["--check", "1"]).output().unwrap();
    assert!(!root.exists());
}
