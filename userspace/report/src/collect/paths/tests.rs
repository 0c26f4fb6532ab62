use super::{OwnedBy, Owners, PathFigures, Paths};
use rocescope_model::{FlowPathRow, FlowRow, LinkLoadRow, QueuePairRow};

fn link(from: (&str, &str), to: (&str, &str), tiers: [&str; 2]) -> [LinkLoadRow; 2] {
    let row = |from: (&str, &str), to: (&str, &str), tiers: [&str; 2]| LinkLoadRow {
        from: from.0.to_owned().into(),
        from_port: from.1.to_owned().into(),
        to: to.0.to_owned().into(),
        to_port: to.1.to_owned().into(),
        from_tier: tiers[0].to_owned().into(),
        to_tier: tiers[1].to_owned().into(),
        ..LinkLoadRow::default()
    };
    [row(from, to, tiers), row(to, from, [tiers[1], tiers[0]])]
}

fn hop(time_ns: i64, port: u16, hop: u16, node: &str, egress: &str) -> FlowPathRow {
    FlowPathRow {
        time_ns,
        protocol: 17,
        src_port: port,
        dst_port: 4791,
        outcome: "complete".into(),
        hop,
        node: node.to_owned().into(),
        egress: Some(egress.to_owned().into()),
        ..FlowPathRow::default()
    }
}

/// Two hosts below two leaves with two links to one spine; tiers with names of their own.
fn figures(hops: &[FlowPathRow], flows: &[FlowRow], owners: &Owners) -> PathFigures {
    let mut paths = Paths::default();
    hops.iter().for_each(|row| paths.hop(row));
    for leaf in ["1", "2"] {
        let tor = format!("tor{leaf}");
        let links = [
            link((&format!("gpu{leaf}"), "e0"), (&tor, "down"), ["server", "access"]),
            link((&tor, "a"), ("core", &format!("{leaf}a")), ["access", "top"]),
            link((&tor, "b"), ("core", &format!("{leaf}b")), ["access", "top"]),
        ];
        links.iter().flatten().for_each(|row| paths.link(row));
    }
    paths.window(flows, owners, OwnedBy::Job);
    paths.finish().unwrap()
}

#[test]
fn the_last_run_gives_tiers_links_and_loads() {
    let path = |time, port, up: &str, down: &str| {
        [
            hop(time, port, 1, "gpu1", "e0"),
            hop(time, port, 2, "tor1", up),
            hop(time, port, 3, "core", down),
            hop(time, port, 4, "tor2", "down"),
        ]
    };
    let hops = [
        path(1, 1, "a", "2b"),
        path(2, 1, "b", "2b"),
        path(2, 2, "b", "2a"),
        path(1, 3, "a", "2a"),
    ];
    let captured = |observer: &str, port, frame_bytes| FlowRow {
        observer: observer.to_owned().into(),
        udp_src_port: Some(port),
        window_ns: 1_000_000_000,
        frame_bytes,
        ..FlowRow::default()
    };
    let flows = [
        captured("x", 1, 1_000),
        captured("y", 1, 900),
        captured("x", 2, 3_000),
        captured("x", 9, 1),
    ];
    let found = figures(&hops.concat(), &flows, &Owners::default());
    assert_eq!(
        (found.time_ns, found.flows.len(), found.outcomes["complete"]),
        (2, 2, 2)
    );
    assert_eq!(found.fabric.tiers, ["server", "access", "top"]);
    assert_eq!((found.fabric.links(), found.problems.len()), (6, 0));
    let rates: Vec<Option<f64>> = found.flows.iter().map(|flow| flow.bps).collect();
    assert_eq!(rates, [Some(8_000.0), Some(24_000.0)]);
    // Both flows on one of four uplinks: deviations 300, 100, 100 and 100 %.
    let layers = &found.imbalance.layers;
    let up = layers
        .iter()
        .find(|layer| layer.from == "access" && layer.to == "top")
        .unwrap();
    assert_eq!((up.links, up.flows, up.fim_percent), (4, 2, Some(150.0)));
}

/// Two jobs with a flow over one of the two uplinks of `tor1`, and one of them with a second flow over the other.
#[test]
fn jobs_have_an_imbalance_of_their_own() {
    let path = |port, up: &str, down: &str| {
        [
            hop(1, port, 1, "gpu1", "e0"),
            hop(1, port, 2, "tor1", up),
            hop(1, port, 3, "core", down),
            hop(1, port, 4, "tor2", "down"),
        ]
    };
    let hops = [
        path(1, "a", "2a"),
        path(2, "b", "2b"),
        path(3, "a", "2a"),
        path(4, "a", "2b"),
    ];
    let captured = |window: i64, port: u16| FlowRow {
        udp_src_port: Some(port),
        dst_qpn: port.into(),
        window_start_ns: window * 1_000_000_000,
        window_ns: 1_000_000_000,
        ..FlowRow::default()
    };
    let pair = |qpn: u32, job: &'static str| QueuePairRow {
        observer: "gpu2".into(),
        device: "mlx5_0".into(),
        local_qpn: qpn,
        pid: Some(1),
        job_id: Some(job.into()),
        local_address: Some(FlowRow::default().dst),
        ..QueuePairRow::default()
    };
    let mut owners = Owners::default();
    for (qpn, job) in [(1, "4711"), (2, "4711"), (3, "4712")] {
        owners.row(&pair(qpn, job));
    }
    // No agent has the queue pair of port 4.
    let all = [captured(0, 1), captured(0, 2), captured(0, 3), captured(0, 4)];
    let found = figures(&hops.concat(), &all, &owners);
    let jobs: Vec<(&str, u64, usize, f64, f64)> = found
        .jobs
        .iter()
        .map(|job| (&*job.name, job.flows, job.links, job.fim(), job.least.fim()))
        .collect();
    // Up from one leaf and down to the other are two links each. Job 4711 has a flow on each of them, and job 4712 on one.
    assert_eq!(jobs, [("job 4711", 2, 4, 0.0, 0.0), ("job 4712", 1, 4, 1.0, 1.0)]);
    assert_eq!(found.left_out_of_jobs, 0);
}

#[test]
fn neither_layers_at_hosts_nor_parts_of_paths_count() {
    let mut paths = Paths::default();
    let deviation = |tiers: [&str; 2], ratio| {
        let [row, _] = link((tiers[0], "1"), (tiers[1], "2"), tiers);
        LinkLoadRow {
            window_ns: 1_000,
            deviation_ratio: Some(ratio),
            ..row
        }
    };
    for row in [
        deviation(["host", "leaf"], 1.0),
        deviation(["leaf", "spine"], 0.25),
        deviation(["spine", "leaf"], -0.75),
    ] {
        paths.link(&row);
    }
    paths.hop(&hop(1, 1, 1, "host", "1"));
    let cut = FlowPathRow {
        outcome: "dead_end".into(),
        ..hop(1, 2, 1, "host", "1")
    };
    paths.hop(&cut);
    let found = paths.finish().unwrap();
    assert_eq!((found.flows.len(), found.outcomes["dead_end"]), (1, 1));
    let points: Vec<f64> = found.over_time.unwrap().iter().map(|(_, point)| point.fim()).collect();
    assert_eq!(points, [0.5]);
}

/// Two uplinks with 3 and 1 flows, and hosts whose tier has a name of its own, or no hosts.
#[test]
fn loads_without_a_run_have_their_imbalance() {
    for has_hosts in [true, false] {
        let mut paths = Paths::default();
        let mut add = |from, to, tiers, flows| {
            let [up, down] = link(from, to, tiers);
            paths.link(&LinkLoadRow {
                flows,
                flow_bps: Some(8.0),
                window_start_ns: 7,
                ..up
            });
            paths.link(&LinkLoadRow {
                flow_bps: Some(0.0),
                window_start_ns: 7,
                ..down
            });
        };
        add(("tor1", "a"), ("core", "1"), ["access", "top"], 3);
        add(("tor1", "b"), ("core", "2"), ["access", "top"], 1);
        if has_hosts {
            add(("gpu1", "e0"), ("tor1", "c"), ["server", "access"], 4);
        }
        let found = paths.finish().unwrap();
        assert_eq!((found.time_ns, found.outcomes.len(), found.flows.len()), (7, 0, 0));
        let imbalance = &found.imbalance;
        assert_eq!(
            (imbalance.flows, imbalance.fim_percent),
            (4, Some(50.0)),
            "{:?}",
            found.fabric.tiers
        );
        assert_eq!(imbalance.bytes_fim_percent, Some(0.0));
    }
}

#[test]
fn a_run_without_links_has_its_flows_only() {
    let mut paths = Paths::default();
    paths.hop(&hop(1, 1, 1, "leaf1", "e1"));
    let found = paths.finish().unwrap();
    assert_eq!(
        (found.fabric.links(), found.flows.len(), found.problems.len()),
        (0, 1, 0)
    );
    assert_eq!(found.imbalance.fim_percent, None);
    assert!(Paths::default().finish().is_none());
}
