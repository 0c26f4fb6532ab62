//! Each signature in a small network, and the rules of the simulator that the figures depend on.

use super::cases::{Case, Class};
use super::judge::{Verdict, judge};
use super::methods::Method;
use rocescope_collective::analysis::{Analysis, analyze};
use rocescope_collective::causes::{Cause, Kind};
use rocescope_collective::monitor::Settings;
use rocescope_collective::steps::Builder;
use rocescope_collective::telemetry::Source;
use rocescope_fabric::packets::{
    Algorithm, Background, Collective, Network, Node, Outcome, Port, Scenario, Storm, run,
};

const MB: u64 = 1_000_000;

/// A ring of four hosts of a fat tree, each in a pod of its own, with 4 MB a step.
fn scenario() -> Scenario {
    let network = Network::fat_tree(4);
    Scenario {
        collective: Collective {
            algorithm: Algorithm::RingAllGather,
            ranks: [0, 4, 8, 12].map(|host| network.host(host)).to_vec(),
            src_ports: vec![50_000; 4],
            bytes: 4 * MB,
        },
        network,
        settings: rocescope_fabric::packets::Settings {
            epoch_ns: 200_000,
            ..Default::default()
        },
        background: Vec::new(),
        storms: Vec::new(),
        taps: Vec::new(),
        seed: 3,
        until_ns: 20_000_000,
    }
}

fn flow(src: u32, dst: u32, bytes: u64) -> Background {
    Background {
        src: Node(src),
        dst: Node(dst),
        src_port: 60_000,
        bytes,
        start_ns: 100_000,
        path: Vec::new(),
    }
}

/// The port of a node towards another.
fn towards(network: &Network, from: Node, to: Node) -> Port {
    let leads = |port: &&Port| network.node(network.peer(**port)) == to;
    *network.ports_of(from).iter().find(leads).unwrap()
}

fn path(network: &Network, nodes: &[Node]) -> Vec<Port> {
    nodes.windows(2).map(|two| towards(network, two[0], two[1])).collect()
}

fn name(network: &Network, port: Port) -> String {
    format!("{}:{}", network.name(network.node(port)), network.number(port))
}

/// Runs a scenario under a method; the outcome and what the analyzer makes of the reports.
fn analysis(scenario: &Scenario, method: Method) -> (Outcome, Analysis) {
    let mut watch = method.watch(&vec![26_000; scenario.collective.ranks.len()], 5);
    let outcome = run(scenario, &mut [&mut *watch]);
    let mut builder = Builder::default();
    for row in &outcome.steps {
        builder.add(row);
    }
    let telemetry = outcome.collected[0].rows[..].telemetry();
    let analysis = analyze(builder.finish(), &telemetry);
    (outcome, analysis)
}

fn monitors() -> Method {
    Method::Monitors(Settings::default())
}

/// The causes of a kind, and their ports.
fn of_kind(analysis: &Analysis, kind: Kind) -> (Vec<&Cause>, Vec<String>) {
    let causes: Vec<&Cause> = analysis.causes.iter().filter(|cause| cause.kind == kind).collect();
    let ports = causes
        .iter()
        .map(|cause| format!("{}:{}", cause.port.switch, cause.port.port))
        .collect();
    (causes, ports)
}

#[test]
fn alone_a_collective_takes_what_it_should_and_asks_nothing() {
    for algorithm in [
        Algorithm::RingAllGather,
        Algorithm::RingAllReduce,
        Algorithm::HalvingDoubling,
    ] {
        let mut scenario = scenario();
        scenario.collective.algorithm = algorithm;
        let (outcome, analysis) = analysis(&scenario, monitors());
        assert!(outcome.completed && outcome.dropped == 0);
        assert_eq!(
            (outcome.collected[0].polls, analysis.causes.len()),
            (0, 0),
            "{algorithm:?}"
        );
        let plan = algorithm.plan(4, 4 * MB);
        assert_eq!(outcome.steps.len(), plan.iter().map(Vec::len).sum::<usize>());
        for step in &outcome.steps {
            let late_ns = step.duration_ns.unwrap() - step.expected_ns.unwrap();
            assert!(
                (0..1_000).contains(&late_ns),
                "{algorithm:?} step {}: {late_ns} ns late",
                step.step
            );
        }
    }
}

#[test]
fn a_run_repeats_to_the_byte() {
    let mut scenario = scenario();
    scenario.background = vec![flow(1, 4, 8 * MB), flow(5, 12, 4 * MB)];
    let (first, second) = (analysis(&scenario, monitors()).0, analysis(&scenario, monitors()).0);
    assert_eq!(first.steps, second.steps);
    assert_eq!(first.collected[0].rows, second.collected[0].rows);
    assert!(!first.collected[0].rows.is_empty());
}

#[test]
fn contention_names_the_flow_and_the_port() {
    let mut scenario = scenario();
    scenario.background = vec![flow(1, 4, 8 * MB)];
    let (outcome, analysis) = analysis(&scenario, monitors());
    assert_eq!((outcome.met, outcome.dropped), (vec![true], 0));
    let (rated, rating) = analysis.contributors[0];
    assert_eq!(rated.src, scenario.network.address(Node(1)));
    assert!(rating > 0.0 && analysis.contributors.len() == 1);
    let (causes, ports) = of_kind(&analysis, Kind::FlowContention);
    let network = &scenario.network;
    let last = towards(network, network.switch(2), Node(4));
    assert!(ports.contains(&name(network, last)), "{ports:?}");
    assert!(causes.iter().all(|cause| cause.flows == [rated]));
}

#[test]
fn an_incast_is_one_with_all_its_senders() {
    let mut scenario = scenario();
    scenario.background = [1, 6, 9, 14].map(|src| flow(src, 4, 4 * MB)).to_vec();
    let (outcome, analysis) = analysis(&scenario, monitors());
    assert_eq!(outcome.dropped, 0);
    let (causes, ports) = of_kind(&analysis, Kind::Incast);
    let network = &scenario.network;
    assert_eq!(ports, [name(network, towards(network, network.switch(2), Node(4)))]);
    assert_eq!(causes[0].flows.len(), 5, "four senders and the collective");
}

#[test]
fn backpressure_is_traced_to_a_port_that_the_collective_does_not_cross() {
    let mut scenario = scenario();
    // Host 5 is beside host 4, outside the collective.
    scenario.background = [2, 6, 9, 10, 14].map(|src| flow(src, 5, 4 * MB)).to_vec();
    let (outcome, analysis) = analysis(&scenario, monitors());
    assert!(outcome.halted > 0);
    let (causes, ports) = of_kind(&analysis, Kind::Incast);
    let network = &scenario.network;
    assert_eq!(ports, [name(network, towards(network, network.switch(2), Node(5)))]);
    let victims = &causes[0].victims;
    assert!(
        !victims.is_empty() && victims.iter().all(|flow| flow.src_port == Some(50_000)),
        "{victims:?}"
    );
    assert_eq!(of_kind(&analysis, Kind::PfcStorm).0.len(), 0);
}

#[test]
fn a_storm_is_traced_to_the_port_that_is_paused_although_the_flow_is_halted() {
    let mut scenario = scenario();
    let network = &scenario.network;
    let path = network.route(Node(0), Node(4), 50_000, scenario.seed);
    for paused in &path[1..] {
        scenario.storms = vec![Storm {
            paused: *paused,
            start_ns: 300_000,
            duration_ns: 3_000_000,
        }];
        let (outcome, analysis) = analysis(&scenario, monitors());
        assert!(outcome.completed);
        assert_eq!(of_kind(&analysis, Kind::PfcStorm).1, [name(network, *paused)]);
    }
}

/// Four switches in a circle, and flows that go two switches on: each link waits for the next.
#[test]
fn a_deadlock_is_one_circle_over_four_switches() {
    let mut network = Network::new(8, 4);
    for switch in 0..4 {
        let here = network.switch(switch);
        network.link(network.host(2 * switch), here);
        network.link(network.host(2 * switch + 1), here);
    }
    for switch in 0..4 {
        network.link(network.switch(switch), network.switch((switch + 1) % 4));
    }
    let mut scenario = Scenario {
        collective: Collective {
            ranks: [1, 3, 5, 7].map(|host| network.host(host)).to_vec(),
            ..scenario().collective
        },
        network,
        until_ns: 3_000_000,
        ..scenario()
    };
    let network = &scenario.network;
    let around = |first: u32| {
        let switch = |number: u32| network.switch((first + number) % 4);
        let dst = network.host(2 * ((first + 2) % 4));
        let nodes = [network.host(2 * first), switch(0), switch(1), switch(2), dst];
        Background {
            dst,
            path: path(network, &nodes),
            ..flow(2 * first, 0, 100 * MB)
        }
    };
    scenario.background = (0..4).map(around).collect();
    let (outcome, analysis) = analysis(&scenario, monitors());
    assert!(!outcome.completed);
    let (causes, _) = of_kind(&analysis, Kind::Deadlock);
    let mut switches: Vec<&str> = causes[0].path.iter().map(|port| &*port.switch).collect();
    switches.sort_unstable();
    assert_eq!((causes.len(), switches), (1, vec!["s0", "s1", "s2", "s3"]));
}

#[test]
fn two_flows_on_one_of_two_links_are_a_load_imbalance() {
    let mut scenario = scenario();
    let network = &scenario.network;
    let own = network.route(Node(0), Node(4), 50_000, scenario.seed);
    let (edge, up) = (network.node(own[1]), network.node(own[2]));
    let beside = network.nodes().find(|node| {
        let is_upper = network
            .ports_of(*node)
            .iter()
            .any(|port| network.node(network.peer(*port)) == edge);
        is_upper && !network.is_host(*node) && *node != up
    });
    // To host 2 of the same pod: much over the link of the collective, little over the other.
    let over = |above: Node| path(network, &[Node(1), edge, above, network.switch(1), Node(2)]);
    let heavy = Background {
        path: over(up),
        ..flow(1, 2, 12 * MB)
    };
    let light = Background {
        path: over(beside.unwrap()),
        src_port: 60_001,
        ..flow(1, 2, MB / 10)
    };
    let port = name(network, own[1]);
    scenario.background = vec![heavy, light];
    let (_, analysis) = analysis(&scenario, Method::FullPolling);
    assert_eq!(of_kind(&analysis, Kind::LoadImbalance).1, [port]);
}

#[test]
fn a_flow_that_returns_to_a_switch_is_a_routing_loop() {
    let mut scenario = scenario();
    let network = &scenario.network;
    let (edge, other) = (network.switch(0), network.switch(1));
    let (up, beside) = (network.switch(8), network.switch(9));
    let circle = path(network, &[Node(0), edge, up, other, beside, edge, Node(1)]);
    scenario.background = vec![Background {
        path: circle,
        ..flow(0, 1, 2 * MB)
    }];
    let (_, analysis) = analysis(&scenario, Method::FullPolling);
    let (causes, _) = of_kind(&analysis, Kind::RoutingLoop);
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].path.len(), 4);
    assert_eq!(causes[0].flows[0].src, scenario.network.address(Node(0)));
}

/// The first case of each class, at a twentieth of its size: the figures of all cases are those of the benchmark.
#[test]
fn the_first_case_of_each_class_is_diagnosed() {
    for class in Class::ALL {
        let judged = (0..9)
            .find_map(|seed| judge(&Case::draw(class, seed * 1_000, 20), &[monitors()], 20))
            .unwrap();
        let score = judged.scores[0];
        assert_eq!(score.verdict, Verdict::Right, "{}", class.name());
        if class == Class::Healthy {
            assert_eq!((score.polls, score.wrong_roots), (0, 0));
        }
    }
}
