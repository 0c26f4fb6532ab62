use super::*;
use crate::telemetry::Peer;
use rocescope_model::Text;
use std::vec;

fn flow(number: u8) -> FlowKey {
    FlowKey {
        src: [10, 0, 0, number].into(),
        dst: [10, 0, 1, number].into(),
        src_port: None,
    }
}

fn counters(flow: FlowKey, packets: u64, queued: u64, paused: u64) -> FlowCounters {
    FlowCounters {
        flow,
        packets,
        queued,
        paused,
    }
}

fn port(name: &'static str, flows: Vec<FlowCounters>) -> PortCounters {
    PortCounters {
        port: Text::from_static(name),
        packets: flows.iter().map(|flow| flow.packets).sum(),
        queued: flows.iter().map(|flow| flow.queued).sum(),
        paused: flows.iter().map(|flow| flow.paused).sum(),
        flows,
        ..PortCounters::default()
    }
}

fn report(time_ns: i64, now: Vec<PortCounters>, last: Vec<PortCounters>) -> Report {
    Report {
        switch: Text::from_static("s"),
        time_ns,
        trigger: Trigger::Pause,
        now,
        last,
    }
}

#[test]
fn two_entries_of_a_flow_are_one_flow_and_depths_are_rounded() {
    let split = weights(&port(
        "1",
        vec![
            counters(flow(1), 1, 5, 0),
            counters(flow(2), 3, 15, 0),
            counters(flow(1), 2, 10, 0),
        ],
    ));
    let whole = weights(&port(
        "1",
        vec![counters(flow(1), 3, 15, 0), counters(flow(2), 3, 15, 0)],
    ));
    assert_eq!(split, whole);
    // 1 2 1 2 1 2: packets of the other before each.
    assert_eq!(split.pairs[&(flow(1), flow(2))], 1 + 2);
    assert_eq!(split.pairs[&(flow(2), flow(1))], 1 + 2 + 3);
    assert_eq!(split.flows[0].port_waits, 15.0);
    // 8 / (4 - 1) is 3, rounded.
    let paused = weights(&port("1", vec![counters(flow(1), 4, 8, 1), counters(flow(2), 4, 0, 0)]));
    assert_eq!(paused.pairs[&(flow(1), flow(2))], 1 + 2 + 2);
}

#[test]
fn an_epoch_counts_once_whatever_the_number_of_reports() {
    let busy = || vec![port("1", vec![counters(flow(1), 2, 20, 0)])];
    let idle = || vec![port("1", Vec::new())];
    let queue = |reports: &[Report]| {
        let reports: Vec<&Report> = reports.iter().collect();
        graph(&reports).ports[0]
            .flows
            .iter()
            .map(|edge| edge.port_waits)
            .sum::<f64>()
    };
    let ms = EPOCH_NS;
    // The second report is about the same epochs.
    assert_eq!(
        queue(&[report(0, busy(), busy()), report(ms / 2, busy(), busy())]),
        40.0
    );
    // What was the current epoch is now the one before.
    assert_eq!(
        queue(&[report(0, busy(), idle()), report(ms + 1, busy(), busy())]),
        40.0
    );
    assert_eq!(
        queue(&[report(0, busy(), busy()), report(3 * ms, busy(), busy())]),
        80.0
    );
}

#[test]
fn the_weight_between_ports_is_the_part_of_the_traffic_downstream() {
    let key = |switch: &'static str| PortKey {
        switch: Text::from_static(switch),
        port: Text::from_static("9"),
    };
    let metered = |name: &'static str, from: &'static str, bytes: u64| {
        let peer = Peer {
            port: Some(key(from)),
            is_host: None,
        };
        PortCounters {
            metered: Some((Text::from_static("x"), peer, bytes)),
            ..port(name, Vec::new())
        }
    };
    // Switch a sends 30 to port 1 and 10 to port 2; b sends 60 to port 1.
    let reports = [
        report(0, vec![metered("1", "a", 30), metered("2", "a", 10)], Vec::new()),
        report(1, vec![metered("1", "b", 60)], Vec::new()),
    ];
    let reports: Vec<&Report> = reports.iter().collect();
    let edges = shares(&reports);
    let edge = edges.iter().find(|(from, to, _)| *from == key("a") && *to.port == *"1");
    assert_eq!(edge.unwrap().2, 30.0 / 90.0);
    // The paused port waits for the port downstream.
    let graph = graph(&reports);
    let paused = graph.ports.iter().find(|port| port.key == key("a")).unwrap();
    assert_eq!(paused.next.len(), 2);
}
