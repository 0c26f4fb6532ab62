//! The classes of traffic are what their names say, and their sums hold.

use super::checked;
use crate::random::Random;
use crate::scenario::group::{Group, Tap};
use crate::truth::ConnectionTruth;
use crate::{CLASSES, Direction, LossPoint, LostPacket, PacketKind, Scenario, Truth};
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
            let lost = way.lost_upstream + way.lost_downstream;
            assert_eq!(way.sent_packets, way.delivered_packets + lost, "{place}");
            let in_fabric = |lost: &&LostPacket| !matches!(lost.place, LossPoint::Late | LossPoint::Mirror);
            assert_eq!(way.lost.iter().filter(in_fabric).count() as u64, lost, "{place}");
            let passed = if group.tap.sees(side) {
                way.sent_packets + way.copied_by_network - way.lost_upstream
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
    let lost = sum(truth, |way| way.lost_upstream + way.lost_downstream);
    let again = sum(truth, |way| way.retransmitted_packets);
    let loses = has(&["loss", "selective"]);
    let repeats = !loses && has(&["strict", "rnr", "naks"]);
    let is_clean = has(&[
        "in-order",
        "mirror-copies",
        "clean",
        "tolerant",
        "deep",
        "ecn",
        "uc-late",
    ]) || has(&["spray"]) && !has(&["loss", "after", "answers"]);
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

/// Every combination of sender, receiver, paths, tap and losses keeps the sums, and completes every message.
#[test]
fn any_combination_of_keys_completes_and_keeps_the_sums() {
    for seed in 0..150 {
        let mut random = Random::new(seed, 9);
        let mut one = |choices: &[&str]| {
            let choice = random.below(choices.len() as u64) as usize;
            choices[choice].to_owned()
        };
        let receiver = one(&["strict", "tolerant", "selective"]);
        let selective = receiver == "selective";
        let mut keys = vec![
            format!("receiver = \"{receiver}\""),
            one(&["", "bidirectional = true"]),
            one(&["", "tap = \"from_src\"", "tap = \"from_dst\""]),
            one(&["window = 8", "window = 63", "window = 4096"]),
            one(&["depth = 1", "depth = 4", "depth = 64"]),
            one(&["rate = \"1Gbit/s\"", "rate = \"40Gbit/s\"", "rate = \"400Gbit/s\""]),
            one(&["", "ack_every = 3"]),
            one(&["", "ack_coalesce = 4\nack_delay = \"2us\""]),
            one(&["", "delay_jitter = \"5us\""]),
            one(&["", "start_psn = 0xffffc0"]),
            one(&[
                "",
                "duplicate = [{ probability = 0.01 }, { probability = 0.01, where = \"downstream\" }]",
            ]),
            one(&[
                "",
                "reorder = [{ probability = 0.02, by = 9 }, { probability = 0.02, where = \"downstream\" }]",
            ]),
            one(&["", "rnr = { probability = 0.05, timer = 1, repeat = 2 }"]),
            one(&["", "ecn = { mark = 0.05, cut = 0.3 }"]),
        ];
        if selective {
            let nak_delay = "nak_delay = \"5us\"";
            keys.push(one(&[
                "",
                "sender = \"selective\"",
                "sender = \"selective\"\nsack = true",
            ]));
            keys.push(one(&["", nak_delay]));
        }
        let loss = |where_: &str, of: &str| {
            format!("{{ probability = 0.01, burst = 3, where = \"{where_}\", of = \"{of}\" }}")
        };
        let losses = [
            loss("upstream", "requests"),
            loss("downstream", "requests"),
            loss("upstream", "responses"),
            loss("downstream", "responses"),
        ];
        let losses: Vec<String> = losses.into_iter().filter(|_| one(&["", "yes"]) == "yes").collect();
        keys.push(format!("loss = [{}]", losses.join(", ")));
        let mut sprays = Vec::new();
        for of in ["requests", "responses", "acknowledgements"] {
            let side = one(&["", "upstream", "downstream"]);
            let ports = one(&["one", "path", "packet"]);
            if !side.is_empty() {
                sprays.push(format!(
                    "{{ paths = 16, skew = \"7us\", of = \"{of}\", where = \"{side}\", ports = \"{ports}\" }}"
                ));
            }
        }
        keys.push(format!("spray = [{}]", sprays.join(", ")));
        let text = format!(
            r#"
            snaplen = 128
            [mirror]
            copies = 0.01
            loss = 0.01
            [[flows]]
            src = "10.0.0.1"
            dst = "10.0.0.2"
            messages = 40
            mtu = 1024
            retries = 50
            timeout = "500us"
            operations = [
                {{ operation = "send", message = {{ uniform = [0, 9000] }} }},
                {{ operation = "write", message = {{ uniform = [0, 9000] }} }},
                {{ operation = "read", message = {{ uniform = [1, 9000] }} }},
                {{ operation = "fetch_add" }},
            ]
            {}
            "#,
            keys.join("\n")
        );
        let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let truth = checked(&scenario, seed);
        let connection = &truth.connections[0];
        assert_eq!(connection.a_to_b.completed_messages, 40, "{text}");
        every_packet_is_somewhere(&text, &scenario, &truth);
    }
}
