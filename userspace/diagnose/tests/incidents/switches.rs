//! A loss has the place where a switch reports that it dropped its packets.

use super::rows::{SECOND, address, connection, find};
use rocescope_diagnose::incidents::ports::{Cable, Cables, End};
use rocescope_diagnose::incidents::{Certainty, Incident, Place, Source, SwitchDrops, ToldBy, Wire, join};
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
    let (found, wire) = losses();
    one_of(found, &wire, drops, ports, &Cables::default())
}

fn one_of(
    mut found: Vec<Incident>,
    wire: &Wire,
    drops: &[SwitchDropRow],
    ports: &[SwitchPortRow],
    cables: &Cables,
) -> Incident {
    let mut switches = SwitchDrops::of(&found);
    drops.iter().for_each(|row| switches.dropped(row));
    ports.iter().for_each(|row| switches.port(row));
    switches.place(cables, &mut found);
    let joined = join(found, wire);
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

/// Frames that a port, or a queue of it, dropped in the ten seconds before `at`.
fn port(switch: &'static str, name: &'static str, at: i64, queue: Option<u32>, frames: u64) -> SwitchPortRow {
    SwitchPortRow {
        time_ns: at * SECOND,
        interval_ns: Some(10 * SECOND),
        switch: switch.into(),
        port_name: name.into(),
        queue,
        out_dropped_frames: Some(frames),
        ..SwitchPortRow::default()
    }
}

/// Three hosts at leaves of their own, below two spines.
fn cables() -> Cables {
    let end = |text: &str| {
        let (node, port) = text.split_once(' ').unwrap();
        End {
            node: node.into(),
            port: port.into(),
            is_host: node.starts_with('h'),
            ..End::default()
        }
    };
    let cable = |(a, b): &(&str, &str)| Cable { a: end(a), b: end(b) };
    let links = [
        ("h1 rail0", "leaf1 swp1"),
        ("h2 rail0", "leaf2 swp1"),
        ("h3 rail0", "leaf3 swp1"),
        ("leaf1 swp3", "spine1 p1"),
        ("leaf2 swp3", "spine1 p2"),
        ("leaf3 swp3", "spine1 p3"),
        ("leaf1 swp4", "spine2 p1"),
        ("leaf2 swp4", "spine2 p2"),
        ("leaf3 swp4", "spine2 p3"),
    ];
    let hosts = (1..=3).map(|host| (address(host), format!("h{host}")));
    Cables::new(links.iter().map(cable).collect()).with_hosts(hosts.collect())
}

/// A host with a NIC at each of two leaves: which way its traffic takes follows from the NIC of its address alone.
#[test]
fn a_host_with_two_nics_is_at_the_leaf_of_its_address() {
    let end = |node: &str, port: &str| End {
        node: node.into(),
        port: port.into(),
        is_host: node.starts_with('h'),
        ..End::default()
    };
    let links = [
        ("h1", "rail0", "leaf1", "h1"),
        ("h1", "rail1", "leaf2", "h1"),
        ("h2", "rail0", "leaf1", "h2"),
        ("h2", "rail1", "leaf2", "h2"),
        ("leaf1", "up", "spine", "leaf1"),
        ("leaf2", "up", "spine", "leaf2"),
    ];
    let cable = |(a, port, b, other): &(&str, &str, &str, &str)| Cable {
        a: end(a, port),
        b: end(b, other),
    };
    let hosts = [(address(1), "h1".to_owned()), (address(2), "h2".to_owned())];
    let cables = Cables::new(links.iter().map(cable).collect()).with_hosts(hosts.into());
    let ports = [port("leaf1", "up", 10, None, 900)];
    let placed = |cables: &Cables| {
        let (found, wire) = losses();
        one_of(found, &wire, &[], &ports, cables).place.name
    };
    assert_eq!(placed(&cables), "10.0.0.1 > 10.0.0.2", "at which leaf, no one knows");
    let nics = |rail: &str| {
        [
            (address(1), ("h1".into(), "rail0".into())),
            (address(2), ("h2".into(), rail.to_owned())),
        ]
    };
    assert_eq!(
        placed(&cables.clone().with_nics(nics("rail1").into())),
        "switch leaf1, port up"
    );
    // Both at one leaf: the spine is not on the way.
    assert_eq!(placed(&cables.with_nics(nics("rail0").into())), "10.0.0.1 > 10.0.0.2");
}

fn counted(ports: &[SwitchPortRow]) -> Incident {
    let (found, wire) = losses();
    one_of(found, &wire, &[], ports, &cables())
}

#[test]
fn the_only_port_on_the_way_that_dropped_frames_is_the_place() {
    let one = counted(&[
        port("leaf1", "swp3", 10, None, 1_200),
        port("leaf1", "swp3", 10, Some(3), 1_190),
        port("leaf1", "swp3", 10, Some(0), 10),
        // Neither is on the way: that of another host, and the way back.
        port("leaf3", "swp3", 10, None, 90_000),
        port("leaf2", "swp3", 10, None, 90_000),
    ]);
    assert_eq!(one.place.name, "switch leaf1, port swp3, queue 3");
    assert_eq!(one.place.link.as_deref(), Some("leaf1>spine1"));
    assert_eq!(one.certainty, Certainty::Likely);
    assert!(one.sources.contains(&Source::Switches) && one.sources.contains(&Source::Capture));
    let meant = "leaf1 swp3, queue 3 dropped 1,200 frames at that time, no other port on the way dropped any";
    assert!(one.meaning.ends_with(meant), "{}", one.meaning);
    assert_eq!((one.victims.lost_packets, one.place.src), (Some(20), Some(address(1))));
}

#[test]
fn what_a_switch_drops_on_arrival_is_on_the_way_from_the_other_end() {
    let arriving = |switch, name| SwitchPortRow {
        in_dropped_frames: Some(700),
        out_dropped_frames: Some(0),
        ..port(switch, name, 10, None, 0)
    };
    let one = counted(&[arriving("spine1", "p1"), arriving("leaf1", "swp3")]);
    assert_eq!(one.place.name, "switch spine1, from port p1");
    assert_eq!(one.place.link.as_deref(), Some("leaf1>spine1"));
}

#[test]
fn counters_that_do_not_decide_are_listed() {
    let both = [
        port("leaf1", "swp3", 10, None, 600),
        port("spine1", "p2", 10, None, 500),
    ];
    let few = [port("leaf1", "swp3", 10, None, 9)];
    let later = [port("leaf1", "swp3", 500, None, 600)];
    for (ports, listed) in [
        (&both[..], "leaf1 swp3 (600), spine1 p2 (500)"),
        (&few, "leaf1 swp3 (9)"),
        (&later, ""),
    ] {
        let one = counted(ports);
        assert_eq!(one.place.name, "10.0.0.1 > 10.0.0.2", "{ports:?}");
        let is_listed = one
            .unknown
            .iter()
            .any(|unknown| unknown.contains("frames were dropped at"));
        assert_eq!(is_listed, !listed.is_empty(), "{:?}", one.unknown);
        assert!(is_listed == one.unknown.iter().any(|unknown| unknown.contains(listed) && is_listed));
    }
}

/// Switches count what an access list drops, too: its cause stays.
#[test]
fn a_fault_with_a_cause_of_its_own_keeps_it_and_a_few_drops_place_nothing() {
    let mesh = |class: &str| Incident {
        since_ns: 2 * SECOND,
        until_ns: 9 * SECOND,
        certainty: Certainty::Certain,
        action: "check the access lists".into(),
        ..Incident::new(
            class,
            Place {
                link: Some("leaf1>spine1".into()),
                ..Place::named("link", "leaf1>spine1")
            },
            ToldBy::Mesh,
            Source::Mesh,
        )
    };
    for (class, frames) in [("acl", 900), ("blackhole", 900), ("loss", 9)] {
        let ports = [port("leaf1", "swp3", 10, None, frames)];
        let one = one_of(vec![mesh(class)], &Wire::default(), &[], &ports, &cables());
        assert_eq!(
            (&*one.place.name, one.certainty),
            ("leaf1>spine1", Certainty::Certain),
            "{class}"
        );
        assert_eq!(one.action, "check the access lists");
    }
}

/// Of three pairs that lose packets one passes the port that dropped some: it does not explain the others.
#[test]
fn a_port_that_few_of_the_pairs_pass_is_not_the_place() {
    let (mut found, wire) = losses();
    found[0]
        .place
        .pairs
        .extend([(address(3), address(2)), (address(3), address(1))]);
    let ports = [port("leaf1", "swp3", 10, None, 900)];
    let one = one_of(found, &wire, &[], &ports, &cables());
    assert_eq!(one.place.name, "10.0.0.1 > 10.0.0.2");
}

#[test]
fn probes_captures_and_counters_tell_of_one_queue() {
    let (mut found, wire) = losses();
    let mesh = |name: &str, link: &str| Incident {
        since_ns: 2 * SECOND,
        until_ns: 9 * SECOND,
        ..Incident::new(
            "congestion_drops",
            Place {
                link: Some(link.into()),
                ..Place::named("link", name)
            },
            ToldBy::Mesh,
            Source::Mesh,
        )
    };
    found.push(mesh("leaf1>spine1", "leaf1>spine1"));
    found.push(mesh("leaf1>spine1 or spine1>leaf2", "leaf1>spine1 spine1>leaf2"));
    let ports = [
        port("leaf1", "swp3", 10, None, 1_200),
        port("leaf1", "swp3", 10, Some(3), 1_200),
    ];
    let one = one_of(found, &wire, &[], &ports, &cables());
    assert_eq!(
        (&*one.class, &*one.place.name),
        ("congestion_drops", "switch leaf1, port swp3, queue 3")
    );
    let sources = [Source::Capture, Source::Mesh, Source::Switches];
    assert!(one.sources.iter().eq(&sources), "{:?}", one.sources);
    assert_eq!(one.victims.lost_packets, Some(20));
}

#[test]
fn counters_without_flows_are_worth_a_look_only() {
    let ports = [
        port("leaf1", "swp3", 10, None, 1_200),
        // A part of it.
        port("leaf1", "swp3", 10, Some(3), 1_200),
        port("leaf1", "swp4", 10, None, 0),
        port("leaf1", "swp5", 10, None, 3),
        port("leaf1", "swp6", 500, None, 9),
    ];
    let one = placed(&[], &ports);
    assert_eq!(one.place.name, "10.0.0.1 > 10.0.0.2");
    let expected = "at that time frames were dropped at leaf1 swp3, queue 3 (1,200), leaf1 swp5 (3); counters do not state of which flows";
    assert!(
        one.unknown.iter().any(|unknown| unknown.ends_with(expected)),
        "{:?}",
        one.unknown
    );
}
