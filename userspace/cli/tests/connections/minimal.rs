//! Captures of a few packets whose truth was put in by hand: `../shared/captures-minimal`, or one line when that is
//! missing.

use super::{connections, events, sum};
use serde_json::Value;
use std::path::Path;

/// What `rocescope connections` prints of a capture, if the collection is next to the project.
fn minimal(name: &str) -> Option<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures-minimal");
    let path = folder.join(name).with_extension("pcap");
    if path.exists() {
        return Some(connections(&path));
    }
    eprintln!("skipped: ../shared/captures-minimal is not there");
    None
}

/// The PSNs that were lost.
fn lost(report: &Value) -> Vec<u64> {
    let losses = events(report, "loss");
    let psns = losses.iter().flat_map(|event| {
        let first = event["psn"].as_u64().unwrap();
        first..first + event["count"].as_u64().unwrap()
    });
    let mut psns: Vec<u64> = psns.collect();
    psns.sort_unstable();
    psns
}

#[test]
fn no_number_of_gaps_is_a_loss() {
    for name in ["spray_16_gaps", "spray_17_gaps"] {
        let Some(report) = minimal(name) else { return };
        assert!(lost(&report).is_empty(), "{name}");
        for count in ["retransmitted_packets", "duplicate_packets", "lost_gaps", "timeouts"] {
            assert_eq!(sum(&report, count), 0, "{name}: {count}");
        }
    }
}

#[test]
fn a_selective_sender_repeats_what_was_lost_and_nothing_else() {
    let Some(report) = minimal("spray_one_loss_selective") else {
        return;
    };
    assert_eq!(lost(&report), [50]);
    assert_eq!(
        (sum(&report, "retransmitted_packets"), sum(&report, "lost_gaps")),
        (1, 0)
    );
    let Some(report) = minimal("spray_selective_false") else {
        return;
    };
    let repeated = [3_773_172, 3_773_295, 3_774_145];
    assert!(lost(&report).starts_with(&repeated), "{:?}", lost(&report));
    assert_eq!(sum(&report, "retransmitted_packets"), 3);
}
