use super::*;
use crate::provenance::{FlowEdge, Graph};
use crate::telemetry::PortKey;
use rocescope_model::Text;

fn flow(number: u8) -> FlowKey {
    FlowKey {
        src: [10, 0, 0, number].into(),
        dst: [10, 0, 1, number].into(),
        src_port: Some(u16::from(number)),
    }
}

fn port(graph: &mut Graph, switch: &'static str, flows: &[(u8, f64, u64)]) -> usize {
    let key = PortKey {
        switch: Text::from_static(switch),
        port: Text::from_static("1"),
    };
    let at = graph.port(&key, 7);
    graph.ports[at].flows = flows
        .iter()
        .map(|(number, port_waits, flow_waits)| FlowEdge {
            flow: flow(*number),
            port_waits: *port_waits,
            flow_waits: *flow_waits,
        })
        .collect();
    at
}

/// Flow 1 is the collective's; it meets flow 2 at s1, and s1 is halted by s2, where flow 3 waits too.
#[test]
fn a_rating_is_the_wait_for_the_flow_and_what_it_spreads() {
    let mut graph = Graph::default();
    let near = port(&mut graph, "s1", &[(1, 40.0, 50), (2, 60.0, 45)]);
    let far = port(&mut graph, "s2", &[(2, 30.0, 20), (3, 70.0, 25)]);
    graph.ports[near].pairs.insert((flow(1), flow(2)), 50);
    graph.ports[near].next.push((far, 0.5));
    let delays = delays(&graph, |one| *one == flow(1));
    assert_eq!(delays.len(), 1);
    assert_eq!((delays[0].flow, delays[0].time_ns), (flow(1), 7));
    // Flow 2: (50 - 60) + (60 + 0.5 x 30); flow 3: 0.5 x 70.
    assert_eq!(delays[0].contributors, [(flow(2), 65.0), (flow(3), 35.0)]);
}

#[test]
fn a_circle_of_pauses_counts_each_port_once() {
    let mut graph = Graph::default();
    let a = port(&mut graph, "s1", &[(1, 10.0, 5)]);
    let b = port(&mut graph, "s2", &[(2, 10.0, 5)]);
    graph.ports[a].next.push((b, 1.0));
    graph.ports[b].next.push((a, 1.0));
    let delays = delays(&graph, |one| *one == flow(1));
    assert_eq!(delays[0].contributors, [(flow(2), 10.0)]);
}

#[test]
fn flows_that_no_port_connects_with_the_collective_have_no_rating() {
    let mut graph = Graph::default();
    port(&mut graph, "s1", &[(1, 10.0, 5)]);
    port(&mut graph, "s2", &[(2, 10.0, 5)]);
    let delays = delays(&graph, |one| *one == flow(1));
    assert_eq!(delays[0].contributors, []);
}

#[test]
fn a_port_gains_from_all_ports_that_it_waits_for_and_a_flow_that_does_not_wait_counts_by_its_queue() {
    let mut graph = Graph::default();
    let near = port(&mut graph, "s1", &[(1, 40.0, 50), (2, 60.0, 0)]);
    graph.ports[near].pairs.insert((flow(1), flow(2)), 50);
    for (switch, weight) in [("s2", 1.0), ("s3", 0.5)] {
        let next = port(&mut graph, switch, &[(2, 30.0, 1)]);
        graph.ports[near].next.push((next, weight));
    }
    let delays = delays(&graph, |one| *one == flow(1));
    assert_eq!(delays[0].contributors, [(flow(2), 60.0 + 30.0 + 15.0)]);
}
