//! The transport keeps its guarantees.

use super::{ALL, checked, scenario};
use crate::Scenario;

#[test]
fn reliable_messages_arrive_once_whatever_happens() {
    for seed in 0..40 {
        let scenario = Scenario::parse(ALL).unwrap();
        let truth = checked(&scenario, seed);
        for connection in &truth.connections {
            let (a, b) = (&connection.a_to_b, &connection.b_to_a);
            assert_eq!((a.completed_messages, b.completed_messages), (60, 60), "seed {seed}");
            assert!(a.unique_messages + b.unique_messages <= 120);
            assert_eq!(a.unfilled_gap_psns + b.unfilled_gap_psns, 0, "seed {seed}");
        }
    }
}

#[test]
fn unique_payload_counts_each_byte_once() {
    for (name, groups) in [("loss", 6), ("reorder", 4)] {
        let truth = checked(&scenario(name), 11);
        let mut checked_groups = std::collections::BTreeSet::new();
        for connection in &truth.connections {
            let expected = match (name, connection.group.as_str()) {
                ("loss", "unreliable" | "no answer") => continue,
                ("loss", "upstream of the tap, by number") => 20 * 16_384,
                ("loss", "acknowledgements") => 200 * 4096,
                ("loss", "read responses") => 50 * 16_384,
                ("loss", "not ready") => 100 * 4096,
                _ => 20 * 65_536,
            };
            checked_groups.insert(&connection.group);
            let found = connection.a_to_b.unique_payload_bytes + connection.b_to_a.unique_payload_bytes;
            // The payload of a READ response lost downstream of the tap is not seen a second time.
            assert_eq!(found, expected, "{}", connection.group);
        }
        assert!(checked_groups.len() >= groups, "{checked_groups:?}");
    }
}

#[test]
fn a_clean_wire_has_no_retransmissions_and_exact_round_trips() {
    let scenario = Scenario::parse(
        r#"
        [[flows]]
        count = 3
        src = "10.0.0.1"
        dst = "10.0.0.2"
        rate = "10Gbit/s"
        message = 5000
        messages = 100
        delay = "7us"
        operations = [{ operation = "write", message = 5000 }, { operation = "read", message = 5000 }]
        line_rate = "100Gbit/s"
        "#,
    )
    .unwrap();
    let truth = checked(&scenario, 3);
    let losses = truth.losses;
    assert_eq!(
        (losses.retransmitted_packets, losses.duplicate_packets, losses.timeouts),
        (0, 0, 0)
    );
    assert_eq!(truth.repeated_request_psns, 0);
    for connection in &truth.connections {
        assert_eq!(connection.a_to_b.rtt.min_ns, 7_000);
        assert_eq!(
            connection.a_to_b.unique_messages + connection.b_to_a.unique_messages,
            100
        );
    }
}

#[test]
fn rates_match_the_scenario() {
    let scenario = Scenario::parse(
        r#"
        duration = "3s"
        [truth]
        window = "1s"
        [[flows]]
        src = "10.0.0.1"
        dst = "10.0.0.2"
        rate = "40Mbit/s"
        rate_changes = [{ at = "1s", rate = "10Mbit/s" }, { at = "2s", rate = "25Mbit/s" }]
        message = 1000
        [[flows]]
        src = "10.0.0.1"
        dst = "10.0.0.2"
        rate = "40Mbit/s"
        line_rate = "10Gbit/s"
        message = 10_000
        [[flows]]
        src = "10.0.0.1"
        dst = "10.0.0.2"
        rate = "40Mbit/s"
        operation = "read"
        message = 10_000
        "#,
    )
    .unwrap();
    let truth = checked(&scenario, 1);
    let rates = |series: usize| -> Vec<f64> {
        truth.series[series]
            .windows
            .iter()
            .map(|window| window.frame_bps / 1e6)
            .collect()
    };
    let close = |found: &[f64], expected: &[f64]| {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} for {expected}");
        }
    };
    close(&rates(0), &[40.0, 10.0, 25.0]);
    close(&rates(2), &[40.0, 40.0, 40.0]);
    // READ responses belong to the other direction.
    close(&rates(5), &[40.0, 40.0, 40.0]);
}

#[test]
fn a_refused_message_ends_the_connection() {
    let scenario = Scenario::parse(
        r#"
        [[flows]]
        src = "10.0.0.1"
        dst = "10.0.0.2"
        rate = "10Gbit/s"
        message = 5000
        messages = 100
        refuse = { message = 3, nak = "remote_access_error" }
        "#,
    )
    .unwrap();
    let truth = checked(&scenario, 3);
    assert_eq!(truth.aeth["nak_remote_access_error"], 1);
    assert_eq!(truth.aeth["ack"], 3);
    assert_eq!(truth.connections[0].b_to_a.nak_fatal, 1);
}
