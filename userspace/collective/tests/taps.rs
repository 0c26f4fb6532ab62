//! Queues from capture points against what the switches of the simulator count.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_collective::steps::FlowKey;
use rocescope_collective::telemetry::PortKey;
use rocescope_collective::telemetry::taps::{Capture, Direction, Passed, Tap, reports};
use rocescope_fabric::packets::{
    Algorithm, Ask, Background, Collective, Network, Node, Port, Scenario, Seen, Settings, Tapped, Watch, run,
};
use rocescope_model::{TelemetryRow, Text};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Asks all switches when the first rank has sent its step, which the other flow delays.
struct Once;

impl Watch for Once {
    fn see(&mut self, _: i64, seen: Seen, asks: &mut Vec<Ask>) {
        if matches!(seen, Seen::Sent { rank: 0, .. }) {
            asks.push(Ask::All);
        }
    }
}

/// Two hosts that exchange 2 MB over a switch, and a third one that sends to one of them meanwhile. No port is paused.
fn scenario() -> Scenario {
    let mut network = Network::new(3, 1);
    let switch = network.switch(0);
    for host in 0..3 {
        network.link(network.host(host), switch);
    }
    Scenario {
        taps: network.ports_of(switch).to_vec(),
        collective: Collective {
            algorithm: Algorithm::RingAllGather,
            ranks: vec![network.host(0), network.host(2)],
            src_ports: vec![50_000; 2],
            bytes: 2_000_000,
        },
        settings: Settings {
            epoch_ns: 1_000_000_000,
            pause_above: 10_000_000,
            ..Settings::default()
        },
        background: vec![Background {
            src: network.host(1),
            dst: network.host(2),
            src_port: 60_000,
            bytes: 1_000_000,
            start_ns: 30_150,
            path: Vec::new(),
        }],
        network,
        storms: Vec::new(),
        seed: 1,
        until_ns: 20_000_000,
    }
}

fn captures(scenario: &Scenario, tapped: &[Tapped], offset_ns: i64) -> Vec<Capture> {
    let network = &scenario.network;
    let key = |port: Port| PortKey {
        switch: network.name(network.node(port)),
        port: Text::from(network.number(port).to_string()),
    };
    let mut captures = Vec::new();
    for port in &scenario.taps {
        for enters in [true, false] {
            let passed = |one: &&Tapped| one.port == *port && one.enters == enters;
            let packet = |one: &Tapped| {
                let (src, dst, src_port): (Node, Node, u16) = one.flow;
                let mut hasher = DefaultHasher::new();
                (one.flow, one.sent_ns).hash(&mut hasher);
                Passed {
                    time_ns: one.time_ns + if enters { 0 } else { offset_ns },
                    identity: hasher.finish(),
                    flow: FlowKey {
                        src: network.address(src),
                        dst: network.address(dst),
                        src_port: Some(src_port),
                    },
                    bytes: one.payload,
                }
            };
            captures.push(Capture {
                tap: Tap {
                    port: key(*port),
                    direction: if enters { Direction::In } else { Direction::Out },
                    peer: Some(key(network.peer(*port))),
                    peer_is_host: Some(true),
                },
                packets: tapped.iter().filter(passed).map(packet).collect(),
            });
        }
    }
    captures
}

/// Packets, and packets before them, by port and source of the flow.
fn sums(rows: &[TelemetryRow]) -> BTreeMap<(String, String), (u64, u64)> {
    let mut sums: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| *row.kind == *"flow") {
        let sum = sums
            .entry((row.egress.to_string(), row.src.unwrap().to_string()))
            .or_default();
        sum.0 += row.packets;
        sum.1 += row.queued_packets;
    }
    sums
}

#[test]
fn queues_from_taps_are_those_that_the_switches_count() {
    let scenario = scenario();
    let outcome = run(&scenario, &mut [&mut Once]);
    assert_eq!((outcome.completed, outcome.halted, outcome.dropped), (true, 0, 0));
    let wanted = sums(&outcome.collected[0].rows);
    // At the port to the receiver both flows found packets of the other.
    let queued: u64 = wanted.values().map(|(_, queued)| queued).sum();
    assert!(queued > 5_000, "{wanted:?}");
    for offset_ns in [0, 3_000_000, -2_000_000] {
        let (rows, complaints) = reports(&captures(&scenario, &outcome.tapped, offset_ns), "import");
        assert!(complaints.is_empty(), "{:?}", complaints.lines());
        let found = sums(&rows);
        for (place, (packets, queued)) in &wanted {
            if *queued == 0 {
                continue;
            }
            let (its_packets, its_queued) = found[place];
            println!("{place:?}: {queued} packets before {packets}, from taps {its_queued} before {its_packets}");
            assert!(
                its_packets.abs_diff(*packets) <= 2,
                "{place:?}: {its_packets} of {packets}"
            );
            // The first packet of the other flow waited for one on the link, so its waits are up to a packet too short.
            assert!(
                its_queued.abs_diff(*queued) * 100 <= *queued,
                "{place:?}: {its_queued} of {queued}"
            );
        }
    }
}
