//! What the lossy connections have in common, and what a tap cannot know.

use super::rows::{SECOND, address, connection, find, lost};
use rocescope_diagnose::incidents::{Certainty, Incident, Place, Source, ToldBy, Wire, join};
use rocescope_model::{ConnectionRow, EventRow};

/// A connection that lost packets upstream of the tap.
fn lossy(src: u8, dst: u8, qpn: u32, lost: u64) -> ConnectionRow {
    ConnectionRow {
        fabric_lost_upstream_packets: lost,
        retransmitted_packets: lost * 3,
        ..connection(src, dst, qpn)
    }
}

fn wire(rows: impl IntoIterator<Item = ConnectionRow>) -> Wire {
    let mut wire = Wire::default();
    rows.into_iter().for_each(|row| wire.connection(&row));
    wire
}

#[test]
fn a_pair_that_loses_most_is_not_hidden_by_many_that_lose_a_little() {
    let others = (2..=20_u8).map(|n| lossy(n, n + 20, n.into(), 1));
    let found = find(&wire(others.chain([lossy(1, 2, 1, 80)])));
    let named: Vec<(&str, Option<u64>)> = found
        .iter()
        .map(|one| (&*one.place.name, one.victims.lost_packets))
        .collect();
    assert_eq!(named[0], ("10.0.0.1 > 10.0.0.2", Some(80)));
    assert_eq!((named.len(), named[1].1), (2, Some(19)));
}

#[test]
fn what_several_senders_and_receivers_share_is_one_incident() {
    let pairs = (1..=3_u8).flat_map(|src| (11..=13_u8).map(move |dst| (src, dst)));
    let rows = pairs.zip(1..).map(|((src, dst), qpn)| lossy(src, dst, qpn, 9));
    // They talk to others too.
    let healthy = [connection(1, 2, 90), connection(12, 11, 91)];
    let found = find(&wire(rows.chain(healthy)));
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        one.place.name,
        "10.0.0.1, 10.0.0.2, 10.0.0.3 > 10.0.0.11, 10.0.0.12, 10.0.0.13"
    );
    assert!(
        one.action.starts_with("check the switches and links between"),
        "{}",
        one.action
    );
}

#[test]
fn some_queue_pairs_of_several_pairs_share_a_path() {
    let rows = (1..=4_u8).flat_map(|n| {
        let (src, dst, qpn) = (n, 10 + n, u32::from(n));
        [lossy(src, dst, qpn, 20), connection(src, dst, 50 + qpn)]
    });
    let found = find(&wire(rows));
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert!(
        one.meaning
            .ends_with("other queue pairs of the same addresses lose nothing"),
        "{}",
        one.meaning
    );
    assert!(one.action.contains("ECMP"), "{}", one.action);
}

#[test]
fn a_traffic_class_that_alone_loses_is_named() {
    let of_class = |row: ConnectionRow, dscp: &'static str| ConnectionRow {
        data_dscp: Some(dscp.into()),
        ..row
    };
    let rows = [of_class(lossy(1, 2, 1, 20), "0"), of_class(connection(1, 2, 2), "26")];
    let found = find(&wire(rows));
    assert!(
        found[0]
            .meaning
            .ends_with("only those with DSCP 0, those with DSCP 26 lose nothing"),
        "{found:#?}"
    );
    assert!(found[0].action.contains("traffic class"), "{found:#?}");
}

/// An end is not at fault for sure if others of its connections lose nothing.
#[test]
fn healthy_connections_of_an_end_make_it_doubtful() {
    let rows = (2..=4_u8).map(|dst| lossy(1, dst, dst.into(), 20));
    let all_lose = find(&wire(rows.clone()));
    assert_eq!(
        (&*all_lose[0].place.name, all_lose[0].certainty),
        ("10.0.0.1 or its link", Certainty::Certain)
    );
    let some = find(&wire(rows.chain([connection(1, 5, 5)])));
    assert_eq!(
        (&*some[0].place.name, some[0].certainty),
        ("10.0.0.1 or its link", Certainty::Likely)
    );
    assert!(
        some[0].unknown[0].starts_with("why 1 other queue pair of the same end"),
        "{some:#?}"
    );
}

#[test]
fn a_sampled_mirror_is_no_loss() {
    let rows = (1..=5_u8).map(|n| ConnectionRow {
        packets: 100,
        unfilled_gaps: 95,
        unfilled_gap_packets: 1_500,
        fabric_lost_upstream_packets: 3,
        ..connection(n, n + 10, n.into())
    });
    let found = wire(rows).find();
    assert!(found.incidents.is_empty(), "{:#?}", found.incidents);
    assert!(
        found.notes[0].starts_with("the tap has about 1 of 16 packets"),
        "{:?}",
        found.notes
    );
}

#[test]
fn naks_alone_show_that_packets_are_missing() {
    let found = wire([ConnectionRow {
        nak_psn_sequence: 44,
        other_direction_seen: Some(false),
        ..connection(2, 1, 7)
    }])
    .find();
    let [one] = found.incidents.as_slice() else {
        panic!("{:#?}", found.incidents)
    };
    assert_eq!((&*one.class, &*one.place.name), ("network_loss", "10.0.0.1 > 10.0.0.2"));
    assert_eq!((one.certainty, one.victims.lost_packets), (Certainty::Possible, None));
    assert!(
        one.meaning.starts_with("44 NAKs ask for packets again"),
        "{}",
        one.meaning
    );
}

/// A box that sees one direction takes repeats for the end of the retries; the other one sees the answers.
#[test]
fn a_box_of_one_direction_proves_no_silence() {
    let row = ConnectionRow {
        timeouts: 7,
        retransmitted_packets: 70,
        ..connection(1, 2, 7)
    };
    let mut both = wire([
        row.clone(),
        ConnectionRow {
            observer: "other".into(),
            packets: 10,
            other_direction_seen: Some(false),
            ..row
        },
    ]);
    both.event(&EventRow {
        observer: "other".into(),
        kind: "retry_exhausted".into(),
        ..lost(1, 2, 5, 1)
    });
    assert!(
        find(&both).iter().all(|one| one.class != "no_answer"),
        "{:#?}",
        find(&both)
    );
}

/// Retries absorb a few receiver-not-ready NAKs in a long time; many, or a sender that gave up, are a fault.
#[test]
fn rare_receiver_not_ready_naks_are_a_note() {
    let classes = |count: u64, given_up: bool| {
        let mut wire = wire([ConnectionRow {
            rnr_nak: count,
            ..connection(2, 1, 7)
        }]);
        for at in [0, 60] {
            wire.event(&EventRow {
                kind: "rnr_nak".into(),
                ..lost(2, 1, at, count / 2)
            });
        }
        if given_up {
            wire.event(&EventRow {
                kind: "retry_exhausted".into(),
                ..lost(1, 2, 61, 1)
            });
        }
        let found = wire.find();
        let classes: Vec<String> = found.incidents.iter().map(|one| one.class.clone()).collect();
        (classes, found.notes.len())
    };
    assert_eq!(classes(10, false), (Vec::new(), 1));
    assert_eq!(classes(10, true), (vec!["slow_receiver".to_owned()], 0));
    assert_eq!(classes(100, false), (vec!["slow_receiver".to_owned()], 0));
}

#[test]
fn few_marks_without_a_queue_are_congestion_control_at_work() {
    let marked = |packets: u64, p99_ns: u64| {
        let wire = wire([ConnectionRow {
            packets,
            ecn_ce_packets: 400,
            rtt_min_ns: Some(8_000),
            rtt_p99_ns: Some(p99_ns),
            ..connection(1, 2, 7)
        }]);
        let mut congested = Incident::new(
            "congestion",
            Place::pair(address(1), address(2)),
            ToldBy::Hosts,
            Source::Capture,
        );
        (congested.since_ns, congested.until_ns) = (SECOND, 9 * SECOND);
        let found = join(vec![congested], &wire);
        (found.len(), wire.marks(&found))
    };
    let (incidents, note) = marked(20_000, 12_000);
    assert_eq!(incidents, 0);
    assert!(
        note.unwrap()
            .starts_with("400 packets came marked (ECN), 400 of them to 10.0.0.2")
    );
    // A queue, and an incident instead of the note.
    assert_eq!(marked(20_000, 2_000_000), (1, None));
    // One packet in ten or more marked is the queue of a switch upstream of the tap, which the round trips behind it do not show.
    assert_eq!(marked(2_000, 12_000), (1, None));
}

/// Rows of connections come once a minute; events alone show what was lost in a part of it.
#[test]
fn events_show_losses_of_a_part_of_the_time() {
    let mut part = Wire::within(Some(40 * SECOND), Some(50 * SECOND));
    part.event(&lost(1, 2, 42, 5));
    part.event(&lost(1, 2, 44, 2));
    let found = find(&part);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((&*one.class, &*one.meaning), ("network_loss", "7 packets lost"));
    assert_eq!((one.since_ns, one.until_ns), (42 * SECOND, 44 * SECOND));
}
