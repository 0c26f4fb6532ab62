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
        for count in [
            "retransmitted_packets",
            "duplicate_packets",
            "unfilled_gaps",
            "timeouts",
        ] {
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
        (sum(&report, "retransmitted_packets"), sum(&report, "unfilled_gaps")),
        (1, 0)
    );
    let Some(report) = minimal("spray_selective_false") else {
        return;
    };
    let repeated = [3_773_172, 3_773_295, 3_774_145];
    assert!(lost(&report).starts_with(&repeated), "{:?}", lost(&report));
    assert_eq!(sum(&report, "retransmitted_packets"), 3);
}

#[test]
fn a_late_packet_of_an_unacknowledged_service_is_out_of_order() {
    let Some(report) = minimal("uc_late") else { return };
    assert!(lost(&report).is_empty());
    let counts = [
        "out_of_order_packets",
        "retransmitted_packets",
        "duplicate_packets",
        "timeouts",
    ];
    assert_eq!(counts.map(|count| sum(&report, count)), [1, 0, 0, 0]);
}

#[test]
fn one_direction_shows_that_its_sender_went_back() {
    for (name, psns) in [("one_way_goback", &[108][..]), ("one_way_goback_after", &[])] {
        let Some(report) = minimal(name) else { return };
        assert_eq!(lost(&report), psns, "{name}");
        let counts = [
            "retransmitted_packets",
            "duplicate_packets",
            "out_of_order_packets",
            "timeouts",
        ];
        assert_eq!(counts.map(|count| sum(&report, count)), [12, 0, 0, 0], "{name}");
        assert_eq!(
            report["connections"][0]["a_to_b"]["other_direction_seen"], false,
            "{name}"
        );
    }
}

#[test]
fn answers_in_flight_when_the_requester_asks_again_are_no_loss() {
    let Some(report) = minimal("read_stale_responses") else {
        return;
    };
    assert_eq!(lost(&report), [3]);
}

#[test]
fn a_queue_pair_number_that_is_used_again_is_another_connection() {
    let Some(report) = minimal("qp_reused_psn0") else {
        return;
    };
    let connections = report["connections"].as_array().unwrap();
    let messages = connections
        .iter()
        .map(|one| one["a_to_b"]["messages"].as_u64().unwrap());
    assert_eq!(messages.collect::<Vec<_>>(), [50, 50]);
    for count in ["retransmitted_packets", "repeated_packets", "timeouts"] {
        assert_eq!(sum(&report, count), 0, "{count}");
    }
}

#[test]
fn every_outstanding_request_gives_its_round_trip() {
    let Some(report) = minimal("hundred_outstanding") else {
        return;
    };
    let direction = &report["connections"][0]["a_to_b"];
    assert_eq!(direction["rtt_samples"], 2_000);
    for time in ["rtt_min_ns", "rtt_max_ns"] {
        let time_ns = direction[time].as_u64().unwrap();
        assert!(time_ns.abs_diff(10_000) <= 1, "{time_ns}");
    }
}
