//! The classes of traffic are what their names say, and their sums hold.

use super::checked;
use crate::scenario::group::{Group, Tap};
use crate::truth::ConnectionTruth;
use crate::{CLASSES, Direction, LossPoint, PacketKind, Scenario, Truth};
use std::collections::BTreeMap;

/// Runs every class and makes all checks of it.
#[test]
fn the_sums_of_every_class_hold() {
    let mut late = BTreeMap::new();
    for (name, text) in CLASSES {
        let mut scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Headers suffice.
        scenario.snaplen = 128;
        for seed in 1..=2 {
            let truth = checked(&scenario, seed);
            every_packet_is_somewhere(name, &scenario, &truth);
            messages_complete(name, &scenario, &truth);
            name_says_what_happens(name, &truth);
            *late.entry(*name).or_insert(0) += sum(&truth, |way| way.out_of_order_packets);
        }
    }
    for (name, late) in late {
        let is_late = ["spray", "reorder", "late"].iter().any(|word| name.contains(word)) && name != "spray-after";
        assert!(!is_late || late > 0, "{name}");
    }
}

fn sum(truth: &Truth, figure: fn(&Direction) -> u64) -> u64 {
    let connections = truth.connections.iter();
    connections.flat_map(|one| [&one.a_to_b, &one.b_to_a]).map(figure).sum()
}

/// Each connection with its group.
fn pairs<'a>(scenario: &'a Scenario, truth: &'a Truth) -> impl Iterator<Item = (&'a Group, &'a ConnectionTruth)> {
    let groups = scenario
        .groups()
        .flat_map(|group| std::iter::repeat_n(group, group.count));
    groups.zip(&truth.connections)
}

/// What was sent arrived or was lost, and what passed the tap is in the capture.
fn every_packet_is_somewhere(name: &str, scenario: &Scenario, truth: &Truth) {
    let (mut captured, mut datagrams) = (0, 0);
    for (group, one) in pairs(scenario, truth) {
        for (side, way) in [&one.a_to_b, &one.b_to_a].into_iter().enumerate() {
            let place = format!("{name}, {}, {side}", one.group);
            let lost = way.lost_before_tap + way.lost_after_tap;
            assert_eq!(way.sent_packets, way.delivered_packets + lost, "{place}");
            let listed = way.lost.iter().filter(|lost| lost.place != LossPoint::Late).count() as u64;
            assert_eq!(listed, lost + way.lost_by_mirror, "{place}");
            let passed = if group.tap.sees(side) {
                way.sent_packets + way.copied_by_network - way.lost_before_tap
            } else {
                0
            };
            let mirrored = passed - way.lost_by_mirror + way.copied_by_mirror;
            assert_eq!(way.volume.packets, mirrored, "{place}");
            captured += way.volume.packets;
        }
        datagrams += if group.cm { 5 } else { 0 };
        assert!(group.tap == Tap::Both || !group.cm);
    }
    assert_eq!(captured + datagrams, truth.roce_packets, "{name}");
}

/// Reliable connections complete every message, unreliable ones send each packet once.
fn messages_complete(name: &str, scenario: &Scenario, truth: &Truth) {
    for (group, one) in pairs(scenario, truth) {
        let messages = group.messages.unwrap();
        assert_eq!(one.a_to_b.completed_messages, messages, "{name}, {}", one.group);
        assert!(one.service == "RC" || one.a_to_b.retransmitted_packets == 0, "{name}");
    }
}

/// Something is lost or repeated as the name has it, and nothing where it does not.
fn name_says_what_happens(name: &str, truth: &Truth) {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let lost = sum(truth, |way| way.lost_before_tap + way.lost_after_tap);
    let again = sum(truth, |way| way.retransmitted_packets);
    let loses = has(&["loss", "selective"]);
    let repeats = !loses && has(&["strict", "rnr"]);
    let is_clean = has(&["in-order", "mirror", "clean", "tolerant", "deep", "ecn", "uc-late"])
        || has(&["spray"]) && !has(&["loss", "after", "answers"]);
    assert!(!loses || lost > 0, "{name}");
    assert!(!repeats || again > 0 && lost == 0, "{name}: {again}");
    assert!(
        !is_clean || lost == 0 && (repeats || again == 0),
        "{name}: {lost}, {again}"
    );
}

/// A NAK for a missing packet passes once, until its sender repeats it.
#[test]
fn a_selective_sender_repeats_what_is_missing_alone() {
    let scenario = Scenario::parse(crate::class("selective-single").unwrap()).unwrap();
    for seed in 1..=10 {
        let truth = checked(&scenario, seed);
        for one in &truth.connections {
            let requests = one.a_to_b.lost.iter().filter(|lost| lost.of == PacketKind::Request);
            let (lost, timeouts) = (requests.count() as u64, one.a_to_b.timeouts);
            if timeouts == 0 {
                assert_eq!(one.a_to_b.retransmitted_packets, lost, "seed {seed}");
                assert_eq!(one.b_to_a.nak_psn_sequence, lost, "seed {seed}");
            }
        }
    }
}
