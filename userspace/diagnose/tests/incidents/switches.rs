//! A loss has the place where a switch reports that it dropped its packets.

use super::rows::{SECOND, address, connection, find};
use rocescope_diagnose::incidents::{Certainty, Incident, Source, SwitchDrops, Wire, join};
use rocescope_model::{ConnectionRow, SwitchDropRow, SwitchPortRow};

/// One pair that loses 20 packets from second 1 to second 9, with another beside it.
fn losses() -> (Vec<Incident>, Wire) {
    let mut wire = Wire::default();
    wire.connection(&ConnectionRow {
        fabric_lost_upstream_packets: 20,
        retransmitted_packets: 60,
        ..connection(1, 2, 7)
    });
    wire.connection(&connection(3, 4, 8));
    (find(&wire), wire)
}

fn dropped(src: u8, dst: u8, at: i64, frames: u64) -> SwitchDropRow {
    SwitchDropRow {
        time_ns: at * SECOND,
        first_ns: at * SECOND,
        switch: "leaf1".into(),
        in_port: Some("swp1".into()),
        out_port: Some("swp3".into()),
        queue: Some(3),
        reason: "no_buffer_space".into(),
        src: Some(address(src)),
        dst: Some(address(dst)),
        dropped_frames: frames,
        ..SwitchDropRow::default()
    }
}

fn placed(drops: &[SwitchDropRow], ports: &[SwitchPortRow]) -> Incident {
    let (mut found, wire) = losses();
    let mut switches = SwitchDrops::of(&found);
    drops.iter().for_each(|row| switches.dropped(row));
    ports.iter().for_each(|row| switches.port(row));
    switches.place(&mut found);
    let joined = join(found, &wire);
    assert_eq!(joined.len(), 1, "{joined:#?}");
    joined.into_iter().next().unwrap()
}

#[test]
fn a_loss_is_placed_where_the_switch_reports_its_drops() {
    let from_other_ports = SwitchDropRow {
        in_port: Some("swp2".into()),
        ..dropped(1, 2, 6, 5)
    };
    let one = placed(&[dropped(1, 2, 5, 12), from_other_ports, dropped(3, 4, 5, 900)], &[]);
    assert_eq!(one.place.name, "switch leaf1, port swp3, queue 3");
    assert_eq!(
        (one.place.switch.as_deref(), &*one.place.kind),
        (Some("leaf1"), "switch")
    );
    assert_eq!((one.certainty, &*one.class), (Certainty::Certain, "network_loss"));
    assert!(one.sources.contains(&Source::Switches) && one.sources.contains(&Source::Capture));
    assert!(
        one.meaning
            .ends_with("leaf1 reported 17 packets of 1 pair as dropped: no_buffer_space"),
        "{}",
        one.meaning
    );
    assert!(
        one.action.starts_with("check buffer, PFC and ECN at switch leaf1"),
        "{}",
        one.action
    );
    assert!(
        one.unknown.iter().any(|unknown| unknown.contains("3 further packets")),
        "{:?}",
        one.unknown
    );
    // Who suffers stays.
    assert_eq!((one.victims.lost_packets, one.place.src), (Some(20), Some(address(1))));
}

#[test]
fn drops_of_other_flows_and_times_place_nothing() {
    let (without, _) = losses();
    for drops in [dropped(3, 4, 5, 900), dropped(2, 1, 5, 9), dropped(1, 2, 500, 9)] {
        let one = placed(std::slice::from_ref(&drops), &[]);
        assert_eq!(
            (&one.place, &one.meaning),
            (&without[0].place, &without[0].meaning),
            "{drops:?}"
        );
    }
}

#[test]
fn drops_at_several_places_are_listed_and_none_is_named() {
    let elsewhere = SwitchDropRow {
        switch: "spine2".into(),
        out_port: None,
        queue: None,
        reason: "acl".into(),
        ..dropped(1, 2, 5, 7)
    };
    let one = placed(&[dropped(1, 2, 5, 13), elsewhere], &[]);
    assert_eq!(one.place.name, "10.0.0.1 > 10.0.0.2");
    let listed = "13 switch leaf1, port swp3, queue 3 (no_buffer_space), 7 switch spine2, from port swp1 (acl)";
    assert!(one.meaning.ends_with(listed), "{}", one.meaning);
}

#[test]
fn counters_without_flows_are_worth_a_look_only() {
    let port = |name: &'static str, at: i64, queue: Option<u32>, frames| SwitchPortRow {
        time_ns: at * SECOND,
        interval_ns: Some(10 * SECOND),
        switch: "leaf1".into(),
        port_name: name.into(),
        queue,
        out_dropped_frames: Some(frames),
        ..SwitchPortRow::default()
    };
    let ports = [
        port("swp3", 10, None, 1_200),
        // A part of it.
        port("swp3", 10, Some(3), 1_200),
        port("swp4", 10, None, 0),
        port("swp5", 10, None, 3),
        port("swp6", 500, None, 9),
    ];
    let one = placed(&[], &ports);
    assert_eq!(one.place.name, "10.0.0.1 > 10.0.0.2");
    let expected =
        "at that time frames were dropped at leaf1 swp3 (1,200), leaf1 swp5 (3); counters do not state of which flows";
    assert!(
        one.unknown.iter().any(|unknown| unknown.ends_with(expected)),
        "{:?}",
        one.unknown
    );
}
