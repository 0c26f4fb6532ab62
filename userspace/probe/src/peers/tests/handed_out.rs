//! Peers that a controller hands out.

use super::{Network, SECOND, address};
use crate::types::Nanos;
use rocescope_diagnose::pinglist::{NicPinglist, Pinglist, Target};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The first NIC of each host probes that of the next one, in this turn.
fn pinglists(network: &Network, turn: i64, ports: u16) -> Vec<Pinglist> {
    let hosts = network.hosts.len();
    let list = |host: usize| NicPinglist {
        nic: address(host, 0),
        ports,
        targets: vec![Target {
            address: address((host + 1) % hosts, 0),
            host: (host + 1) as u32,
            turn,
        }],
    };
    let of = |host| Pinglist {
        nics: vec![list(host)],
        dscps: vec![26],
    };
    (0..hosts).map(of).collect()
}

fn hand_out(network: &mut Network, lists: &[Pinglist]) {
    let now = network.now;
    for (agent, list) in network.agents.iter_mut().flatten().zip(lists) {
        agent.probe_peers(list, now);
    }
}

/// Source, destination and port of the probes of a host since the last call.
fn tuples(network: &mut Network, host: usize) -> BTreeSet<(IpAddr, IpAddr, u16)> {
    let there = network.of(host).filter(|row| row.dst_nic.is_empty());
    let found = there.map(|row| (row.src, row.dst, row.udp_src_port)).collect();
    network.rows.clear();
    found
}

#[test]
fn peers_follow_what_the_controller_hands_out_and_none_is_lost_by_a_change() {
    let mut network = Network::unlisted(3, 2);
    network.run(Nanos(5 * SECOND));
    assert_eq!(network.agents[0].as_ref().unwrap().peer_counters(), None);
    let first = pinglists(&network, 1, 2);
    hand_out(&mut network, &first);
    network.run(Nanos(20 * SECOND));
    assert!(
        network
            .of(0)
            .all(|row| row.dscp == Some(26) && &*row.outcome == "received")
    );
    let probed = tuples(&mut network, 0);
    assert_eq!(probed.len(), 2, "two ports");
    assert!(
        probed
            .iter()
            .all(|way| (way.0, way.1) == (address(0, 0), address(1, 0)))
    );
    // The same list again changes nothing, another turn the ports, another number of ports too.
    hand_out(&mut network, &first);
    network.run(Nanos(20 * SECOND));
    assert_eq!(tuples(&mut network, 0), probed);
    for (turn, ports) in [(2, 2), (2, 4)] {
        let next = pinglists(&network, turn, ports);
        hand_out(&mut network, &next);
        network.run(Nanos(20 * SECOND));
        let next = tuples(&mut network, 0);
        assert_eq!(
            (next.len(), next.is_disjoint(&probed)),
            (ports.into(), true),
            "{next:?}"
        );
    }
    // Host 1 goes: its peers get others, and what was in flight to it has an outcome.
    let mut without = pinglists(&network, 2, 4);
    without[0].nics[0].targets[0] = Target {
        address: address(2, 0),
        host: 3,
        turn: 2,
    };
    hand_out(&mut network, &without);
    network.run(Nanos(20 * SECOND));
    let outcomes = network.outcomes();
    assert_eq!(outcomes, BTreeSet::from(["received".to_owned()]));
    let next = tuples(&mut network, 0);
    assert!(next.iter().any(|way| way.1 == address(2, 0)), "{next:?}");
    hand_out(&mut network, &vec![Pinglist::default(); 3]);
    network.run(Nanos(5 * SECOND));
    let before = network.counters(0);
    network.run(Nanos(20 * SECOND));
    assert_eq!(
        (network.counters(0), before.in_flight),
        (before, 0),
        "no peers, no probes"
    );
}

#[test]
fn what_a_nic_cannot_or_must_not_probe_is_left_out() {
    let mut network = Network::unlisted(2, 2);
    let mut lists = pinglists(&network, 0, 1_000);
    let target = |address: IpAddr| Target {
        address,
        host: 9,
        turn: 0,
    };
    let own = target(address(0, 1));
    let other_family = target("2001:db8::1".parse().unwrap());
    lists[0].nics[0].targets.splice(..0, [own, other_family]);
    let of_another_host = NicPinglist {
        nic: address(1, 0),
        ..lists[0].nics[0].clone()
    };
    lists[0].nics.push(of_another_host);
    hand_out(&mut network, &lists);
    network.run(Nanos(20 * SECOND));
    let probed = tuples(&mut network, 0);
    assert_eq!(probed.len(), 4, "no more ports than it may have");
    assert!(
        probed
            .iter()
            .all(|way| (way.0, way.1) == (address(0, 0), address(1, 0)))
    );
}
