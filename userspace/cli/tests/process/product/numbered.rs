//! Mirrors that number their frames: the summary reports how many never arrived, and how many were cut.

use crate::product::rocescope::{json, run, text};
use rocescope_generate::{Generator, Scenario};

const SCENARIO: &str = r#"
name = "numbered"
duration = "100ms"

[[flows]]
name = "writes"
src = "10.0.0.1"
dst = "10.0.0.2"
rate = "100Mbit/s"
message = "4KiB"
encapsulation = { kind = "erspan_ii", src = "192.0.2.1", dst = "192.0.2.2", session = 12, truncate = 128 }
"#;

#[test]
fn missing_numbered_frames_are_in_the_summary() {
    let scenario = Scenario::parse(SCENARIO).unwrap();
    let mut generator = Generator::new(&scenario, 1);
    let mut pcap = Vec::new();
    for word in [0xa1b2_3c4du32, 2 | 4 << 16, 0, 0, 65_535, 1] {
        pcap.extend(word.to_le_bytes());
    }
    let (mut bytes, mut seen, mut lost) = (Vec::new(), 0u64, 0u64);
    while let Some(made) = generator.next_frame(&mut bytes) {
        if seen % 10 == 9 && lost < 20 {
            lost += 1;
            // The next one arrives, whatever the count.
            assert!(generator.next_frame(&mut bytes).is_some());
        }
        seen += 1;
        let length = bytes.len() as u32;
        let seconds = (made.at_ns / 1_000_000_000) as u32;
        let nanoseconds = (made.at_ns % 1_000_000_000) as u32;
        for word in [seconds, nanoseconds, length, length] {
            pcap.extend(word.to_le_bytes());
        }
        pcap.extend(&bytes);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbered.pcap");
    std::fs::write(&file, pcap).unwrap();

    let said = json(&file, &[]);
    assert_eq!(lost, 20);
    assert_eq!(said["frames"], seen);
    assert_eq!(said["mirrored_frames"], seen);
    assert_eq!(said["mirror_gap_frames"], lost);
    assert_eq!(said["mirror_unfollowed_frames"], 0);
    let truncated = said["truncated_packets"].as_u64().unwrap();
    assert!(truncated > 0 && truncated < seen);
    // A cut packet never counts as a whole one with a wrong ICRC.
    let verified = json(&file, &["--verify-icrc"]);
    assert_eq!(verified["icrc_bad"], 0);
    assert_eq!(verified["icrc_unverifiable"], truncated);

    let output = run(&["capture", "-r", file.to_str().unwrap()]);
    let line = format!("Mirrored  {} numbered = {seen} seen + {lost} mirror loss", seen + lost);
    let summary = text(&output.stdout).replace(',', "");
    assert!(summary.contains(&line), "{summary}");
    assert!(summary.contains(&format!("Truncated {truncated} packets by the mirror 0 by")));
}
