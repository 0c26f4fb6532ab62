//! Findings of `--check` on good and bad ports: generated frames, changed or dropped on their way, cause each
//! condition.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::replay;
use crate::live::totals::capture;
use rocescope_capture::file::{self, Frame, FrameReader, PcapNgWriter};
use rocescope_testkit::{Running, binary};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Offsets of source and TTL of an IPv4 packet after an Ethernet header without tags.
const SOURCE: usize = 14 + 12;
const TTL: usize = 14 + 8;

/// Checks the receiver while a capture is replayed onto it. Returns whether the check succeeded, and its report.
fn check(namespace: &Namespace, path: Option<&Path>) -> (bool, Value) {
    let mut command = namespace.command(binary());
    command.args(["capture", "--check", "600", "-o", "json", "-i", RECEIVER]);
    let running = Running::begin(&mut command, "capturing on ");
    if let Some(path) = path {
        replay(namespace, path);
    }
    let ended = running.stop("-INT");
    (ended.status.success(), ended.json())
}

/// Level and message of the finding about a topic.
fn finding<'a>(said: &'a Value, topic: &str) -> (&'a str, &'a str) {
    let mut found = said["findings"].as_array().unwrap().iter();
    let finding = found.find(|finding| finding["topic"] == topic);
    let finding = finding.unwrap_or_else(|| panic!("{topic}: {said}"));
    (finding["level"].as_str().unwrap(), finding["message"].as_str().unwrap())
}

/// The verdict that names topics with warnings.
fn verdict(topics: &str) -> String {
    format!("This port carries RoCEv2, but check: {topics}.")
}

/// Two pairs of hosts that write messages, as a mirror delivers them; `before` and `behind` extend the scenario.
fn generated(folder: &TempDir, before: &str, behind: &str) -> PathBuf {
    let scenario = folder.path().join("scenario.toml");
    let file = folder.path().join("generated.pcap");
    let text = format!(
        "duration = \"20ms\"\n{before}\n[[flows]]\ncount = 2\nsrc = \"10.0.0.1-10.0.0.2\"\n\
         dst = \"10.0.0.3-10.0.0.4\"\nmessage = \"16KiB\"\nrate = \"500Mbit/s\"\n{behind}\n"
    );
    fs::write(&scenario, text).unwrap();
    let mut generate = Command::new(binary());
    generate.arg("generate").arg(&scenario).arg("-w").arg(&file);
    let output = generate.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

/// The same capture after `change` replaced each frame, given its number.
fn changed(path: &Path, change: impl Fn(usize, &[u8]) -> Vec<Vec<u8>>) -> PathBuf {
    let to = path.with_extension("changed.pcapng");
    let mut writer = PcapNgWriter::new(File::create(&to).unwrap()).unwrap();
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    let mut number = 0;
    while let Some(frame) = reader.next_frame().unwrap() {
        for bytes in change(number, frame.bytes) {
            let bytes = &bytes[..];
            writer.frame(&Frame { bytes, ..frame }, "").unwrap();
        }
        number += 1;
    }
    writer.finish().unwrap();
    to
}

/// Whether a frame comes from the host with this last byte.
fn is_from(frame: &[u8], host: u8) -> bool {
    frame[SOURCE..SOURCE + 4] == [10, 0, 0, host]
}

#[test]
fn a_port_without_roce_is_not_the_right_port() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (good, said) = check(&namespace, None);
    assert!(!good);
    assert_eq!(said["verdict"], "No RoCEv2 traffic was seen.");
    assert_eq!((&said["roce_packets"], &said["right"]), (&0.into(), &false.into()));
}

#[test]
fn a_port_with_both_directions_is_right() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (good, said) = check(&namespace, capture("vlan100_write_bw").as_deref());
    assert!(good, "{said}");
    assert_eq!(said["verdict"], "This is the right port.", "{said}");
    assert_eq!(said["both_ways_ratio"], 1.0);
    assert!(said["vlans"]["100"].as_u64().unwrap() > 0, "{said}");
    assert_eq!(said["mirror_duplicate_packets"], 0);
}

#[test]
fn a_missing_direction_of_all_or_some_hosts_is_reported() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let both = generated(&folder, "", "");
    for (hidden, pairs, message) in [
        (
            &[3, 4][..],
            2,
            "Only one direction is seen: no round trips and no pairing. Mirror both the received and the transmitted traffic of the port.",
        ),
        (
            &[4],
            1,
            "1 of 2 host pairs are seen in one direction only: no round trips and no pairing for them.",
        ),
    ] {
        let some = changed(&both, |_, frame| {
            let is_hidden = hidden.iter().any(|host| is_from(frame, *host));
            if is_hidden { vec![] } else { vec![frame.to_vec()] }
        });
        let (_, said) = check(&namespace, Some(&some));
        assert_eq!(said["verdict"], verdict("directions"), "{said}");
        assert_eq!(finding(&said, "directions"), ("warn", message));
        assert_eq!(said["host_pairs"], 2);
        assert_eq!(said["one_way_host_pairs"], pairs);
    }
}

#[test]
fn a_mirror_on_both_sides_of_a_hop_is_reported() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let twice = changed(&generated(&folder, "", ""), |_, frame| {
        let mut further = frame.to_vec();
        further[TTL] -= 1;
        vec![frame.to_vec(), further]
    });
    let (_, said) = check(&namespace, Some(&twice));
    assert_eq!(said["verdict"], verdict("duplicates"), "{said}");
    let (level, message) = finding(&said, "duplicates");
    assert_eq!(level, "warn");
    let end = " % of the packets are mirror duplicates: totals count both copies. Mirror only one side of the path.";
    assert!(message.ends_with(end), "{message}");
    // A pair that a busy machine sends more than a millisecond apart is not reported.
    let half = said["roce_packets"].as_u64().unwrap() / 2;
    let twice = said["mirror_duplicate_packets"].as_u64().unwrap();
    assert!(twice <= half && twice > half / 2, "{said}");
}

#[test]
fn an_oversubscribed_mirror_is_reported() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let thinned = generated(&folder, "[mirror]\nloss = 0.02", "");
    let (_, said) = check(&namespace, Some(&thinned));
    assert_eq!(said["verdict"], verdict("mirror loss"), "{said}");
    let (level, message) = finding(&said, "mirror loss");
    assert_eq!(level, "warn");
    assert!(message.ends_with("it is oversubscribed, and counts of retransmissions are unreliable."));
    // The mirror lost acknowledgements too, which no other packet acknowledges.
    let ratio = said["mirror_loss_ratio"].as_f64().unwrap();
    assert!((0.01..0.03).contains(&ratio), "{ratio}");
}

#[test]
fn tags_tunnels_gaps_and_cuts_are_reported() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tagged = generated(&folder, "", "vlan = [100, 7]");
    let (_, said) = check(&namespace, Some(&tagged));
    assert_eq!(said["verdict"], "This is the right port.", "{said}");
    assert_eq!(finding(&said, "vlan"), ("ok", "VLANs 7, 100."));
    assert_eq!(said["vlans"]["7"], said["roce_packets"]);
    assert_eq!(said["vlans"]["100"], said["roce_packets"]);

    let tunnel = "encapsulation = { kind = \"erspan_ii\", src = \"192.0.2.1\", dst = \"192.0.2.2\", truncate = 128 }";
    let whole = generated(&folder, "", tunnel);
    let (_, said) = check(&namespace, Some(&whole));
    assert_eq!(said["verdict"], "This is the right port.", "{said}");
    let packets = said["roce_packets"].as_u64().unwrap();
    let message = format!("0 of {packets} frames numbered by mirrors did not arrive.");
    assert_eq!(finding(&said, "mirror gaps"), ("ok", &message[..]));
    let message = format!("{packets} frames are encapsulated in erspan_ii.");
    assert_eq!(finding(&said, "tunnel"), ("ok", &message[..]));
    let message = "Frames are truncated: lengths come from the headers, and ICRCs cannot be verified.";
    assert_eq!(finding(&said, "truncation"), ("ok", message));
    let truncated = said["truncated_packets"].as_u64().unwrap();
    assert!(truncated > packets / 2 && truncated < packets, "{said}");

    // A local mirror that cuts frames, and one that cuts into their headers.
    let other = TempDir::new().unwrap();
    let plain = generated(&other, "", "");
    let cut = |to: usize| changed(&plain, |_, frame| vec![frame[..to.min(frame.len())].to_vec()]);
    let (_, said) = check(&namespace, Some(&cut(128)));
    assert_eq!(said["verdict"], verdict("truncation"), "{said}");
    let (level, message) = finding(&said, "truncation");
    assert!(
        level == "warn" && message.starts_with("The mirror cuts frames to 128 bytes: "),
        "{message}"
    );
    assert_eq!(said["roce_packets"], packets);
    let (_, said) = check(&namespace, Some(&cut(52)));
    let (level, message) = finding(&said, "roce");
    let cut = format!("({packets} frames are malformed or cut before the end of their headers");
    assert!(level == "warn" && message.contains(&cut), "{message}");

    // Drop only acknowledgements before the capture, so that there is no other finding.
    let is_lost = |number: usize, frame: &[u8]| frame.len() < 128 && (10..500).contains(&number);
    let holes = changed(&whole, |number, frame| {
        if is_lost(number, frame) {
            vec![]
        } else {
            vec![frame.to_vec()]
        }
    });
    let mut reader = FrameReader::new(file::open(&whole).unwrap()).unwrap();
    let (mut number, mut short) = (0, 0);
    while let Some(frame) = reader.next_frame().unwrap() {
        short += u64::from(is_lost(number, frame.bytes));
        number += 1;
    }
    assert!(short > 0);
    let (_, said) = check(&namespace, Some(&holes));
    let message = format!("{short} of {packets} frames numbered by mirrors did not arrive.");
    assert_eq!(finding(&said, "mirror gaps"), ("warn", &message[..]));
    assert_eq!(said["verdict"], verdict("mirror gaps"), "{said}");
    assert_eq!(said["mirror_gap_frames"], short);
}

#[test]
fn a_check_requires_an_interface() {
    let mut command = Command::new(binary());
    let output = command.args(["capture", "--check", "1"]).output().unwrap();
    assert!(!output.status.success());
}
