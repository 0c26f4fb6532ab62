use super::*;
use crate::telemetry::{FlowCounters, Peer, PortCounters, Trigger};
use rocescope_model::Text;
use std::format;
use std::string::String;

fn key(switch: &'static str, port: &'static str) -> PortKey {
    PortKey {
        switch: Text::from_static(switch),
        port: Text::from_static(port),
    }
}

fn flow(src: u8, dst: u8) -> FlowKey {
    FlowKey {
        src: [10, 0, 0, src].into(),
        dst: [10, 0, 0, dst].into(),
        src_port: Some(1_000),
    }
}

/// A report of one port: packets, packets before them, packets while paused, and its flows with the same.
struct One {
    at: PortKey,
    counters: (u64, u64, u64),
    flows: Vec<(FlowKey, u64, u64, u64)>,
    /// The port upstream whose traffic it forwards.
    from: Option<PortKey>,
    peer: Peer,
}

impl One {
    fn new(at: PortKey, counters: (u64, u64, u64)) -> Self {
        Self {
            at,
            counters,
            flows: Vec::new(),
            from: None,
            peer: Peer::default(),
        }
    }

    fn report(self) -> Report {
        let upstream = |port: PortKey| {
            let peer = Peer {
                port: Some(port),
                is_host: None,
            };
            (Text::from_static("9"), peer, 1_000)
        };
        let (packets, queued, paused) = self.counters;
        let counters = PortCounters {
            port: self.at.port,
            peer: self.peer,
            metered: self.from.map(upstream),
            packets,
            queued,
            paused,
            flows: self
                .flows
                .into_iter()
                .map(|(flow, packets, queued, paused)| FlowCounters {
                    flow,
                    packets,
                    queued,
                    paused,
                })
                .collect(),
        };
        Report {
            switch: self.at.switch,
            time_ns: 3,
            trigger: Trigger::Pause,
            now: std::vec![counters],
            last: Vec::new(),
        }
    }
}

fn found(ports: Vec<One>) -> Vec<Cause> {
    let reports: Vec<Report> = ports.into_iter().map(One::report).collect();
    merge(in_window(0, &reports, |flow| *flow == self::flow(1, 2)))
}

fn path(cause: &Cause) -> String {
    let ports = cause.path.iter().map(|port| format!("{}:{}", port.switch, port.port));
    ports.collect::<Vec<_>>().join(" > ")
}

#[test]
fn other_flows_in_the_queue_of_the_collective_are_contention() {
    let mut port = One::new(key("s1", "1"), (20, 200, 0));
    port.flows = std::vec![
        (flow(1, 2), 10, 100, 0),
        (flow(3, 4), 10, 100, 0),
        (flow(5, 6), 1, 0, 0)
    ];
    let causes = found(std::vec![port]);
    assert_eq!(causes.len(), 1);
    assert_eq!(
        (causes[0].kind, path(&causes[0]).as_str()),
        (Kind::FlowContention, "s1:1")
    );
    // Flow 5 found the queue empty.
    assert_eq!(causes[0].flows, [flow(3, 4)]);
}

#[test]
fn pauses_are_tracked_to_the_queue_that_began_them() {
    let mut first = One::new(key("s1", "1"), (10, 0, 5));
    first.flows = std::vec![(flow(1, 2), 5, 0, 3), (flow(7, 8), 5, 0, 2)];
    let mut second = One::new(key("s2", "1"), (10, 0, 5));
    second.from = Some(key("s1", "1"));
    let mut root = One::new(key("s3", "1"), (10, 300, 0));
    root.from = Some(key("s2", "1"));
    root.flows = std::vec![(flow(1, 2), 5, 100, 0), (flow(3, 4), 5, 200, 0)];
    let causes = found(std::vec![first, second, root]);
    let backpressure = causes.iter().find(|cause| cause.kind == Kind::PfcBackpressure).unwrap();
    assert_eq!(path(backpressure), "s1:1 > s2:1 > s3:1");
    assert_eq!(backpressure.port, key("s3", "1"));
    assert_eq!(backpressure.victims, [flow(7, 8)]);
}

#[test]
fn many_senders_to_one_receiver_at_the_root_are_an_incast() {
    let first = One::new(key("s1", "1"), (10, 0, 5));
    let mut root = One::new(key("s3", "1"), (40, 400, 0));
    root.from = Some(key("s1", "1"));
    root.flows = (3..7).map(|src| (flow(src, 9), 10, 100, 0)).collect();
    let causes = found(std::vec![first, root]);
    assert_eq!((causes.len(), causes[0].kind), (1, Kind::Incast));
    assert_eq!(causes[0].flows.len(), 4);
}

#[test]
fn pauses_without_a_queue_beyond_are_a_storm() {
    let mut port = One::new(key("s1", "1"), (10, 0, 5));
    port.peer = Peer {
        port: Some(key("h1", "1")),
        is_host: Some(true),
    };
    let causes = found(std::vec![port]);
    assert_eq!((causes.len(), causes[0].kind), (1, Kind::PfcStorm));
    assert_eq!(causes[0].sender, Some((key("h1", "1"), true)));
    // A switch beyond that has a queue explains them; one that did not report leaves them unexplained.
    for (beyond, storms) in [(Some((10, 0, 0)), 1), (Some((10, 500, 0)), 0), (None, 0)] {
        let mut port = One::new(key("s1", "1"), (10, 0, 5));
        port.peer = Peer {
            port: Some(key("s2", "4")),
            is_host: Some(false),
        };
        let mut ports = std::vec![port];
        ports.extend(beyond.map(|counters| One::new(key("s2", "1"), counters)));
        assert_eq!(found(ports).len(), storms, "{beyond:?}");
    }
}

/// The switch that sends the pauses reports in one window and not in the next: there the paused port ends a chain.
#[test]
fn a_storm_is_one_root_cause_also_where_its_sender_does_not_report() {
    let window = |start_ns, has_reported: bool| {
        let upstream = One::new(key("s1", "1"), (10, 0, 5));
        let mut paused = One::new(key("s2", "1"), (10, 0, 5));
        paused.from = Some(key("s1", "1"));
        paused.peer = Peer {
            port: Some(key("s3", "4")),
            is_host: Some(false),
        };
        let mut ports = std::vec![upstream, paused];
        ports.extend(has_reported.then(|| One::new(key("s3", "1"), (10, 0, 0))));
        let reports: Vec<Report> = ports.into_iter().map(One::report).collect();
        in_window(start_ns, &reports, |flow| *flow == self::flow(1, 2))
    };
    let kinds = |causes: &[Cause]| causes.iter().map(|cause| cause.kind).collect::<Vec<_>>();
    // Alone, the window without it has nothing better to name.
    assert_eq!(kinds(&merge(window(0, false))), [Kind::PfcBackpressure]);
    for windows in [[(0, false), (WINDOW_NS, true)], [(0, true), (WINDOW_NS, false)]] {
        let causes = windows
            .into_iter()
            .flat_map(|(start_ns, has_reported)| window(start_ns, has_reported));
        let causes = merge(causes.collect());
        assert_eq!(kinds(&causes), [Kind::PfcStorm]);
        assert_eq!(causes[0].sender, Some((key("s3", "4"), false)));
        assert_eq!(path(&causes[0]), "s1:1 > s2:1");
    }
    // A queue at that port long before the storm is another cause.
    let apart = window(0, false).into_iter().chain(window(5 * WINDOW_NS, true));
    assert_eq!(kinds(&merge(apart.collect())), [Kind::PfcStorm, Kind::PfcBackpressure]);
}

#[test]
fn a_circle_of_paused_ports_is_one_deadlock_from_its_fullest_port_on() {
    let circle = |paused: [u64; 3]| {
        let mut ports = Vec::new();
        for (at, switch, before, queued) in [(0, "s1", "s3", 5), (1, "s2", "s1", 900), (2, "s3", "s2", 7)] {
            let mut port = One::new(key(switch, "1"), (10, 100 + queued, paused[at]));
            port.from = Some(key(before, "1"));
            port.flows = std::vec![(flow(at as u8, 9), 10, 100, 1)];
            ports.push(port);
        }
        found(ports)
    };
    let causes = circle([1, 1, 1]);
    let deadlocks: Vec<&Cause> = causes.iter().filter(|cause| cause.kind == Kind::Deadlock).collect();
    assert_eq!(deadlocks.len(), 1);
    assert_eq!(path(deadlocks[0]), "s2:1 > s3:1 > s1:1");
    assert_eq!(deadlocks[0].flows.len(), 3);
    // A port that is not paused can empty its queue: no deadlock.
    assert!(circle([1, 0, 1]).iter().all(|cause| cause.kind != Kind::Deadlock));
}

fn to(switch: &'static str) -> Peer {
    Peer {
        port: Some(key(switch, "5")),
        is_host: Some(false),
    }
}

#[test]
fn a_full_port_beside_a_light_one_to_the_same_receiver_is_an_imbalance() {
    let two = |packets, other_receiver| {
        let mut full = One::new(key("s1", "1"), (100, 900, 0));
        full.peer = to("s2");
        full.flows = std::vec![(flow(3, 4), 50, 450, 0), (flow(5, 4), 50, 450, 0)];
        let mut light = One::new(key("s1", "2"), (packets, 0, 0));
        light.peer = to("s3");
        light.flows = std::vec![(flow(6, other_receiver), packets, 0, 0)];
        found(std::vec![full, light])
    };
    let causes = two(50, 4);
    assert_eq!((causes.len(), causes[0].kind), (1, Kind::LoadImbalance));
    assert_eq!((path(&causes[0]).as_str(), causes[0].flows.len()), ("s1:1 > s1:2", 2));
    assert_eq!(two(51, 4), []);
    assert_eq!(two(50, 7), []);
}

#[test]
fn a_flow_that_returns_to_a_switch_is_a_loop() {
    let ring = |last: &'static str| {
        let ports = [("s1", "s2"), ("s2", "s3"), ("s3", last)].map(|(switch, next)| {
            let mut port = One::new(key(switch, "1"), (10, 0, 0));
            port.peer = to(next);
            port.flows = std::vec![(flow(3, 4), 10, 0, 0)];
            port
        });
        found(ports.into())
    };
    let causes = ring("s1");
    assert_eq!((causes.len(), causes[0].kind), (1, Kind::RoutingLoop));
    assert_eq!(
        (path(&causes[0]).as_str(), causes[0].flows.as_slice()),
        ("s1:1 > s2:1 > s3:1", &[flow(3, 4)][..])
    );
    assert_eq!(ring("s4"), []);
}
