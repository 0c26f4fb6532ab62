//! Faults of several analyses, by hand: what becomes one incident, and what does not.

use rocescope_diagnose::incidents::{Certainty, Incident, Place, Source, ToldBy, Victim, Victims, Wire, join};
use rocescope_model::ConnectionRow;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::string::String;
use std::vec::Vec;

const SECOND: i64 = 1_000_000_000;

fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

/// A fault from second 100 to 200.
fn fault(class: &str, place: Place, told_by: ToldBy) -> Incident {
    let source = match told_by {
        ToldBy::Wire => Source::Capture,
        ToldBy::Hosts => Source::Counters,
        ToldBy::Mesh => Source::Mesh,
        ToldBy::Loopback => Source::Loopback,
        ToldBy::Collectives => Source::Collectives,
        ToldBy::Switches => Source::Switches,
    };
    let mut incident = Incident::new(class, place, told_by, source);
    (incident.since_ns, incident.until_ns) = (100 * SECOND, 200 * SECOND);
    incident.certainty = Certainty::Likely;
    incident.meaning = "it fails".into();
    incident
}

/// A port of a host with one address.
fn port(host: &str, last: u8) -> Place {
    Place {
        host: Some(host.into()),
        nic: Some(std::format!("{host}/mlx5_0")),
        addresses: [address(last)].into(),
        ..Place::named("port", std::format!("{host} mlx5_0/1"))
    }
}

/// A link between switches that these pairs cross.
fn link(name: &str, pairs: &[(u8, u8)]) -> Place {
    Place {
        link: Some(name.into()),
        pairs: pairs.iter().map(|(src, dst)| (address(*src), address(*dst))).collect(),
        ..Place::named("link", name)
    }
}

fn loss(src: u8, dst: u8, lost: u64) -> Incident {
    let mut incident = fault("network_loss", Place::pair(address(src), address(dst)), ToldBy::Wire);
    incident.certainty = Certainty::Certain;
    incident.victims = Victims::of(Vec::from([Victim {
        dst_qpn: Some(u32::from(src) * 256 + u32::from(dst)),
        lost_packets: lost,
        retransmitted_packets: 2 * lost,
        ..Victim::between(address(src), address(dst))
    }]));
    incident
}

/// Class, place and the sources of each incident.
fn joined(found: Vec<Incident>) -> Vec<(String, String, usize)> {
    let incidents = join(found, &Wire::default());
    let short = |one: &Incident| (one.class.clone(), one.place.name.clone(), one.sources.len());
    incidents.iter().map(short).collect()
}

fn is_one(found: Vec<Incident>, class: &str, place: &str) {
    let sources: BTreeSet<Source> = found.iter().flat_map(|one| one.sources.iter().copied()).collect();
    assert_eq!(joined(found), [(class.into(), place.into(), sources.len())]);
}

fn are(found: Vec<Incident>, count: usize) {
    let incidents = joined(found);
    assert_eq!(incidents.len(), count, "{incidents:#?}");
}

/// Each cause with the effects that other analyses see.
#[test]
fn what_has_one_cause_is_one_incident() {
    use ToldBy::{Collectives, Hosts, Loopback, Mesh};
    let lossy_link = || fault("loss", link("r1>s0", &[(1, 3), (2, 4)]), Mesh);
    is_one(Vec::from([lossy_link(), loss(1, 3, 9), loss(2, 4, 5)]), "loss", "r1>s0");
    // In the order in which analyses run, or another.
    is_one(Vec::from([loss(2, 4, 5), loss(1, 3, 9), lossy_link()]), "loss", "r1>s0");
    // The link is the access link of a NIC: the cable that its counters accuse.
    let cable = || fault("sick_cable", port("h3", 3), Hosts);
    let access = fault(
        "corruption",
        Place {
            addresses: [address(3)].into(),
            ..link("r1>h3/mlx5_0", &[])
        },
        Mesh,
    );
    is_one(
        Vec::from([access, cable(), loss(1, 3, 9), loss(3, 5, 2)]),
        "sick_cable",
        "h3 mlx5_0/1",
    );
    for class in ["link_down", "flapping"] {
        let mesh = fault(
            class,
            Place {
                addresses: [address(3)].into(),
                ..Place::named("nic", "h3/mlx5_0")
            },
            Mesh,
        );
        is_one(Vec::from([mesh, cable(), loss(1, 3, 9)]), "sick_cable", "h3 mlx5_0/1");
    }
    for effect in ["network_loss", "receiver_died", "receiver_drops"] {
        let gone = fault("nic_vanished", port("h3", 3), Hosts);
        is_one(
            Vec::from([fault(effect, Place::address(address(3)), Hosts), gone]),
            "nic_vanished",
            "h3 mlx5_0/1",
        );
    }
    // Pauses reach what is behind the port that sends them.
    for (effect, told_by) in [
        ("congestion", Hosts),
        ("latency", Mesh),
        ("slow_nic", Mesh),
        ("slow_link", Collectives),
    ] {
        let behind = fault(effect, Place::pair(address(1), address(3)), told_by);
        is_one(
            Vec::from([behind, fault("pause_storm", port("h3", 3), Hosts)]),
            "pause_storm",
            "h3 mlx5_0/1",
        );
    }
    for (cause, effect, told_by) in [
        ("sick_cable", "no_answer", ToldBy::Wire),
        ("nic_vanished", "no_answer", ToldBy::Wire),
        ("link_down", "silent", Mesh),
        ("pcie_degraded", "receiver_drops", Hosts),
        ("receiver_drops", "network_loss", ToldBy::Wire),
        ("no_cnps", "congestion", Hosts),
        ("cnps_ignored", "latency", Mesh),
        ("congestion", "latency", Mesh),
        ("congestion", "slow_link", Collectives),
    ] {
        let at_the_port = fault(cause, port("h3", 3), Hosts);
        let behind = fault(effect, Place::pair(address(1), address(3)), told_by);
        is_one(Vec::from([behind, at_the_port]), cause, "h3 mlx5_0/1");
    }
    // A slow PCIe link is the cause of the pauses.
    let pcie = fault("pcie_degraded", port("h3", 3), Hosts);
    let storm = fault("pause_storm", port("h3", 3), Hosts);
    let late = fault(
        "slow_nic",
        Place {
            addresses: [address(3)].into(),
            ..Place::named("nic", "h3/mlx5_0")
        },
        Mesh,
    );
    is_one(Vec::from([late, storm, pcie]), "pcie_degraded", "h3 mlx5_0/1");
    let inside = fault(
        "loopback",
        Place {
            addresses: [address(3)].into(),
            ..Place::named("pcie", "h3: nic – switch")
        },
        Loopback,
    );
    is_one(
        Vec::from([inside, fault("pause_storm", port("h3", 3), Hosts)]),
        "loopback",
        "h3: nic – switch",
    );
    // A route or an access list: nothing is answered.
    for class in ["no_route", "acl", "blackhole"] {
        let mesh = fault(class, link("r1>s0", &[(1, 3)]), Mesh);
        let silent = fault("no_answer", Place::pair(address(1), address(3)), ToldBy::Wire);
        is_one(Vec::from([silent, mesh]), class, "r1>s0");
    }
    // What the wire and the counters call by two names.
    let gone = fault("receiver_died", port("h3", 3), Hosts);
    let silent = fault("no_answer", Place::pair(address(1), address(3)), ToldBy::Wire);
    is_one(Vec::from([silent, gone]), "receiver_died", "h3 mlx5_0/1");
    // The same class from the wire and from counters.
    let counted = fault("slow_receiver", port("h3", 3), Hosts);
    is_one(
        Vec::from([
            fault("slow_receiver", Place::address(address(3)), ToldBy::Wire),
            counted,
        ]),
        "slow_receiver",
        "h3 mlx5_0/1",
    );
    // The collective waits for packets that are lost, or for a receiver that is not ready.
    let slow = fault("lossy_qp", Place::pair(address(1), address(3)), Collectives);
    is_one(Vec::from([slow, loss(1, 3, 9)]), "network_loss", "10.0.0.1 > 10.0.0.3");
    let rank = fault(
        "slow_rank",
        Place {
            host: Some("h3".into()),
            addresses: [address(3)].into(),
            ..Place::named("host", "h3")
        },
        Collectives,
    );
    is_one(
        Vec::from([rank, fault("slow_receiver", Place::address(address(3)), ToldBy::Wire)]),
        "slow_receiver",
        "10.0.0.3",
    );
}

/// A mirror has no addresses: its repeats look like timeouts of whatever it shows.
#[test]
fn a_mirror_that_repeats_explains_timeouts_that_the_tap_sees() {
    let mirror = || fault("mirror_repeats", Place::named("mirror", "mirror of box"), ToldBy::Hosts);
    let timeouts = |told_by| fault("timeouts", Place::address(address(4)), told_by);
    is_one(
        Vec::from([timeouts(ToldBy::Wire), mirror()]),
        "mirror_repeats",
        "mirror of box",
    );
    are(Vec::from([timeouts(ToldBy::Hosts), mirror()]), 2);
    are(Vec::from([loss(1, 2, 20), mirror()]), 2);
}

/// A port of a switch whose queue a flow of these pairs fills; the last of them suffers.
fn queue(class: &str, switch: &str, flows: &[(u8, u8)], halted: (u8, u8)) -> Incident {
    let mut pairs: Vec<(u8, u8)> = flows.into();
    pairs.push(halted);
    let mut queue = fault(
        class,
        Place {
            kind: "switch".into(),
            ..link(switch, &pairs)
        },
        ToldBy::Collectives,
    );
    queue.victims = Victims::of(Vec::from([Victim::between(address(halted.0), address(halted.1))]));
    queue
}

/// Each port was two incidents, and a flow was one incident at each port of its way.
#[test]
fn what_a_flow_does_to_several_queues_is_one_incident_and_other_flows_are_others() {
    let contention = |switch, src| queue("flow_contention", switch, &[(src, 9)], (7, 8));
    is_one(
        Vec::from([
            contention("s1", 1),
            queue("pfc_backpressure", "s1", &[(2, 3)], (7, 8)),
            contention("s2", 1),
        ]),
        "flow_contention",
        "s1",
    );
    // What both halt is no cause.
    are(Vec::from([contention("s1", 1), contention("s2", 2)]), 2);
    let incast = || queue("incast", "s3", &[(1, 9), (2, 9), (3, 9)], (7, 8));
    is_one(
        Vec::from([contention("s1", 1), incast(), contention("s2", 2)]),
        "incast",
        "s3",
    );
    are(Vec::from([contention("s1", 4), incast()]), 2);
}

#[test]
fn what_has_two_causes_is_two_incidents() {
    use ToldBy::{Hosts, Mesh};
    // Elsewhere.
    are(Vec::from([loss(1, 3, 9), loss(2, 4, 5)]), 2);
    are(Vec::from([fault("sick_cable", port("h5", 5), Hosts), loss(1, 3, 9)]), 2);
    are(
        Vec::from([fault("loss", link("r1>s0", &[(2, 4)]), Mesh), loss(1, 3, 9)]),
        2,
    );
    // At another time.
    let mut early = fault("sick_cable", port("h3", 3), Hosts);
    (early.since_ns, early.until_ns) = (0, 30 * SECOND);
    are(Vec::from([early.clone(), loss(1, 3, 9)]), 2);
    early.is_open = true;
    are(Vec::from([early, loss(1, 3, 9)]), 1);
    // A receiver that is not ready loses nothing in the network.
    are(
        Vec::from([fault("slow_receiver", port("h3", 3), Hosts), loss(1, 3, 9)]),
        2,
    );
    // One analysis keeps two faults apart.
    are(
        Vec::from([
            fault("loss", link("r1>s0", &[(1, 3)]), Mesh),
            fault("loss", link("s0>r2", &[(1, 3)]), Mesh),
        ]),
        2,
    );
    // Three side by side, each with its own effect.
    let found = [
        fault("sick_cable", port("h3", 3), Hosts),
        loss(1, 3, 9),
        fault("pause_storm", port("h6", 6), Hosts),
        fault("latency", Place::pair(address(2), address(6)), Mesh),
        loss(7, 8, 4),
    ];
    are(found.into(), 3);
}

#[test]
fn the_cause_takes_over_victims_times_and_evidence_of_its_effects() {
    let mut cable = fault("sick_cable", port("h3", 3), ToldBy::Hosts);
    cable.rests_on("counters", "h3", "symbol_error", 40.0, "events");
    let mut first = loss(1, 3, 9);
    first.since_ns = 90 * SECOND;
    first.rests_on("connections", "1>3", "fabric_lost_upstream_packets", 9.0, "packets");
    let mut second = loss(2, 3, 5);
    second.is_open = true;
    let incidents = join(Vec::from([cable, first, second]), &Wire::default());
    let [one] = incidents.as_slice() else {
        panic!("{incidents:#?}")
    };
    assert_eq!((one.since_ns, one.is_open), (90 * SECOND, true));
    assert_eq!((one.victims.connections, one.victims.lost_packets), (2, Some(14)));
    assert_eq!(one.victims.retransmitted_packets, Some(28));
    assert_eq!(one.evidence.len(), 2);
    assert_eq!(
        one.explains.iter().map(|effect| &*effect.class).collect::<Vec<_>>(),
        ["network_loss"; 2]
    );
    // The worst victim is first.
    assert_eq!(one.victims.worst[0].dst, address(3));
    assert_eq!(one.victims.worst[0].lost_packets, 9);
}

fn connection(src: u8, dst: u8, packets: u64, lost: u64) -> ConnectionRow {
    ConnectionRow {
        connection: i64::from(src) * 256 + i64::from(dst),
        role: "a_to_b".into(),
        src: address(src),
        dst: address(dst),
        dst_qpn: Some(7),
        packets,
        fabric_lost_upstream_packets: lost,
        other_direction_seen: Some(true),
        ..ConnectionRow::default()
    }
}

#[test]
fn captured_traffic_names_the_victims_of_other_analyses_or_contradicts_them() {
    let mesh = || fault("loss", link("r1>s0", &[(1, 3)]), ToldBy::Mesh);
    let mut wire = Wire::default();
    wire.connection(&connection(1, 3, 5_000, 0));
    let incidents = join(Vec::from([mesh()]), &wire);
    assert_eq!(incidents[0].victims.connections, 0);
    assert!(
        incidents[0].unknown[0].contains("contradicts: of 5,000 packets"),
        "{:?}",
        incidents[0].unknown
    );
    // Neither does too little traffic, nor traffic that would not show a loss: datagrams, and one direction alone.
    for row in [
        connection(1, 3, 500, 0),
        ConnectionRow {
            other_direction_seen: None,
            ..connection(1, 3, 5_000, 0)
        },
        ConnectionRow {
            other_direction_seen: Some(false),
            ..connection(1, 3, 5_000, 0)
        },
    ] {
        let mut wire = Wire::default();
        wire.connection(&row);
        assert!(join(Vec::from([mesh()]), &wire)[0].unknown.is_empty(), "{row:?}");
    }
    let mut wire = Wire::default();
    wire.connection(&connection(1, 3, 5_000, 4));
    wire.connection(&connection(2, 4, 5_000, 7));
    let incidents = join(Vec::from([mesh()]), &wire);
    assert_eq!(
        (incidents[0].victims.connections, incidents[0].victims.lost_packets),
        (1, Some(4))
    );
}

#[test]
fn the_order_of_the_faults_changes_nothing() {
    let found = || {
        Vec::from([
            fault("pcie_degraded", port("h3", 3), ToldBy::Hosts),
            fault("pause_storm", port("h3", 3), ToldBy::Hosts),
            fault("congestion", Place::pair(address(1), address(3)), ToldBy::Hosts),
            fault("latency", Place::pair(address(2), address(3)), ToldBy::Mesh),
            loss(5, 6, 3),
            fault("flapping", port("h6", 6), ToldBy::Hosts),
        ])
    };
    let expected = join(found(), &Wire::default());
    assert_eq!(expected.len(), 2);
    for turn in 1..6 {
        let mut turned = found();
        turned.rotate_left(turn);
        let incidents = join(turned, &Wire::default());
        let ids = |all: &[Incident]| all.iter().map(Incident::id).collect::<Vec<_>>();
        assert_eq!(ids(&incidents), ids(&expected), "turned by {turn}");
    }
}
