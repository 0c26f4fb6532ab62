//! SLA metrics compared with counts by hand, paths that change, and flows over a place.

use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_fabric::probing::Names;
use rocescope_fabric::{FaultKind, FaultLocation, FiveTuple, LinkDirection, LinkId, Rails, Role};
use rocescope_model::UdpPath;

#[test]
fn quantiles_are_those_of_the_sorted_values() {
    let mut run = Run::new(Rails::two_tiers(3, 4, 2), 8);
    let names = Names::new(&run.fabric);
    let (mut network, mut host) = (Vec::new(), Vec::new());
    run.mesh.probes(&run.fabric, START, START + WINDOW, |probe| {
        let row = names.probe(&run.fabric, &run.mesh, &probe);
        network.extend(row.network_latency_ns);
        host.extend(row.processing_delay_ns);
    });
    network.sort_unstable();
    host.sort_unstable();
    assert_eq!(network.len(), 2_400);
    let sla = run.window().sla;
    // The 1200th, 2160th, 2376th, and, of 2397.6, the 2398th.
    let ranks = [1_200, 2_160, 2_376, 2_398];
    let at = |values: &[i64]| ranks.map(|rank| Some(values[rank - 1]));
    let found = [
        sla.network_p50_ns,
        sla.network_p90_ns,
        sla.network_p99_ns,
        sla.network_p999_ns,
    ];
    assert_eq!(found, at(&network));
    let found = [
        sla.processing_p50_ns,
        sla.processing_p90_ns,
        sla.processing_p99_ns,
        sla.processing_p999_ns,
    ];
    assert_eq!(found, at(&host));
    assert_eq!((sla.hosts, sla.probes, sla.verdicts), (3, 2_400, 0));
}

#[test]
fn coverage_and_votes_are_counted_by_hand() {
    let mut run = Run::new(Rails::two_tiers(2, 2, 1), 3);
    let topology = run.fabric.topology;
    let leaf = topology.node(Role::Rail { group: 0, rail: 0 });
    let spine = topology.node(Role::Spine(0));
    let link = topology.between(leaf, spine).unwrap();
    let up = LinkDirection { link, up: true };
    run.fault(FaultKind::Loss { probability: 0.06 }, FaultLocation::Direction(up), 0);
    let found = run.window();
    // One spine: every probe crosses every switch link of its rails, and the votes are the drops.
    let rows = run.analyzer.link_rows(&found);
    assert_eq!(rows.len(), 2 * 6);
    let inner: Vec<_> = rows
        .iter()
        .filter(|row| !row.from.contains('/') && !row.to.contains('/'))
        .collect();
    assert_eq!(inner.len(), 4);
    for row in inner {
        assert_eq!(row.probes, 400, "{row:?}");
        assert_eq!(row.votes, row.drops);
        assert!((row.weighted_votes - row.drops as f64 / 4.0).abs() < 1e-9);
    }
    assert_eq!(found.sla.rnic_drops, 0);
    let [verdict] = &found.verdicts[..] else {
        panic!("{:?}", lines(&found));
    };
    // With one spine, consecutive links of a switch carry the same probes: all are named.
    assert_eq!(&*verdict.place, "r0>s0 or s0>r1");
    assert_eq!((&*verdict.paper, verdict.votes), ("first", found.sla.switch_drops));
}

/// A window without faults, then the link from rail switch 1 to spine 0 loses 30 %.
fn with_a_grey_link() -> (Run, LinkId) {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 5);
    run.window();
    let topology = run.fabric.topology;
    let grey = topology
        .between(
            topology.node(Role::Rail { group: 0, rail: 1 }),
            topology.node(Role::Spine(0)),
        )
        .unwrap();
    run.fault(FaultKind::Loss { probability: 0.3 }, FaultLocation::Link(grey), 0);
    (run, grey)
}

#[test]
fn flows_are_matched_by_address_or_by_path() {
    let (mut run, grey) = with_a_grey_link();
    let topology = run.fabric.topology;
    let found = run.window();
    assert_eq!(lines(&found), ["loss link r1>s0 and back"]);
    let (mut over, mut past) = (0, 0);
    run.mesh.paths(&run.fabric, START, |tuple, _| {
        let flow = UdpPath {
            src: topology.nic_address(tuple.src),
            dst: topology.nic_address(tuple.dst),
            port: tuple.udp_src_port,
        };
        let crosses = run.analyzer.crosses(found.places[0], flow, tuple.udp_dst_port, START);
        let route = run.fabric.route(tuple, START);
        let truth = route.ways().iter().any(|way| way.link == grey);
        assert_eq!(crosses, Some(truth));
        over += u32::from(truth);
        past += u32::from(!truth);
    });
    assert!(over > 0 && past > 0);
    let unknown = UdpPath {
        src: topology.nic_address(topology.nic(0, 1)),
        dst: topology.nic_address(topology.nic(0, 2)),
        port: 1,
    };
    assert_eq!(run.analyzer.crosses(found.places[0], unknown, 4791, START), None);
}

/// The agent of a flow's sender traces it; probes of the other host name its NIC.
#[test]
fn flows_to_other_hosts_are_matched_by_their_traces_and_probes_are_no_flows() {
    let (mut run, grey) = with_a_grey_link();
    let topology = run.fabric.topology;
    let flows: Vec<FiveTuple> = (0..40)
        .map(|at| FiveTuple {
            src: topology.nic(at % 4, 1),
            dst: topology.nic((at + 1) % 4, 2),
            udp_src_port: 50_000 + at as u16,
            udp_dst_port: 4791,
        })
        .collect();
    for flow in &flows {
        run.trace_flow(*flow);
    }
    let found = run.window();
    assert_eq!(lines(&found), ["loss link r1>s0 and back"]);
    let mut over = 0;
    for tuple in flows {
        let flow = UdpPath {
            src: topology.nic_address(tuple.src),
            dst: topology.nic_address(tuple.dst),
            port: tuple.udp_src_port,
        };
        let route = run.fabric.route(tuple, START);
        let truth = route.ways().iter().any(|way| way.link == grey);
        let crosses = run.analyzer.crosses(found.places[0], flow, 4791, found.start_ns);
        assert_eq!(crosses, Some(truth));
        over += usize::from(truth);
        assert!(!run.analyzer.is_within_a_host(flow));
    }
    assert!((1..40).contains(&over), "{over}");
    let probe = UdpPath {
        src: topology.nic_address(topology.nic(0, 1)),
        dst: topology.nic_address(topology.nic(0, 2)),
        port: 50_000,
    };
    assert!(run.analyzer.is_within_a_host(probe));
}
