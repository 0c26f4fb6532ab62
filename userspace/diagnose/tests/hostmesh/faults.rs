//! Every class of fault: its class and its place.

use crate::hostmesh::run::{Run, WINDOW, lines};
use rocescope_fabric::{Fabric, FaultKind, FaultLocation, FiveTuple, LinkDirection, LinkId, Nic, Rails, Role};
use rocescope_model::ROCE_UDP_PORT;

/// 4 hosts, 4 rails, 2 spines: the same fabric as the testbed.
pub(crate) fn small(seed: u64) -> Run {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), seed);
    for _ in 0..2 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
    run
}

pub(crate) fn way(run: &Run, rail: u32, spine: u32, up: bool) -> LinkDirection {
    way_of(&run.fabric, rail, spine, up)
}

pub(crate) fn way_of(fabric: &Fabric, rail: u32, spine: u32, up: bool) -> LinkDirection {
    let topology = &fabric.topology;
    let leaf = topology.node(Role::Rail { group: 0, rail });
    let link = topology.between(leaf, topology.node(Role::Spine(spine))).unwrap();
    LinkDirection { link, up }
}

/// The rail switch of a NIC drops packets from another.
fn refuse(run: &mut Run, src: Nic, dst: Nic) {
    let leaf = run.fabric.topology.ends(LinkId(dst.0)).1;
    let acl = FaultKind::Acl {
        src: Some(src),
        dst: Some(dst),
    };
    run.fault(acl, FaultLocation::Node(leaf), 0);
}

#[test]
fn a_nic_that_is_down_is_named_with_both_directions() {
    for seed in 0..5 {
        let mut run = small(seed);
        let nic = run.fabric.topology.nic(1, 2);
        run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), WINDOW / 3);
        for _ in 0..2 {
            let found = run.window();
            assert_eq!(lines(&found), ["link_down nic h1/rail2"]);
            let verdict = &found.verdicts[0];
            assert_eq!(verdict.direction.as_deref(), Some("both"));
            assert_eq!(&*verdict.paper, "rnic");
            let since = verdict.since_ns - run.fabric.faults[0].from_ns;
            assert!((0..1_000_000_000).contains(&since), "{since}");
        }
    }
}

#[test]
fn a_switch_link_that_is_down_is_named_if_no_route_avoids_it() {
    for seed in 0..5 {
        let mut run = small(seed);
        let down = way(&run, 3, 1, false);
        run.fault(FaultKind::LinkDown, FaultLocation::Link(down.link), WINDOW / 2);
        assert_eq!(lines(&run.window()), ["link_down link s1>r3"]);
        assert_eq!(lines(&run.window()), ["link_down link s1>r3"]);
    }
}

#[test]
fn lossy_links_are_named_in_one_direction() {
    for seed in 0..5 {
        for probability in [0.05, 0.2, 0.5] {
            let mut run = small(seed);
            let grey = way(&run, 1, 0, true);
            run.fault(FaultKind::Loss { probability }, FaultLocation::Direction(grey), 0);
            assert_eq!(lines(&run.window()), ["loss link r1>s0"], "{probability}");
        }
    }
}

#[test]
fn flapping_is_not_link_down() {
    for seed in 0..5 {
        let mut run = small(seed);
        let nic = run.fabric.topology.nic(0, 0);
        run.fault(
            FaultKind::Flapping { period_ns: WINDOW / 3 },
            FaultLocation::Nic(nic),
            0,
        );
        assert_eq!(lines(&run.window()), ["flapping nic h0/rail0"]);
        // Slower than a window: recognised in the second one.
        let mut run = small(seed);
        let slow = FaultKind::Flapping { period_ns: WINDOW };
        run.fault(slow, FaultLocation::Nic(nic), WINDOW / 4);
        run.window();
        assert_eq!(lines(&run.window()), ["flapping nic h0/rail0"]);
    }
}

#[test]
fn corruption_is_not_loss() {
    for seed in 0..5 {
        let mut run = small(seed);
        let bad = way(&run, 2, 1, false);
        run.fault(
            FaultKind::Corruption { probability: 0.1 },
            FaultLocation::Direction(bad),
            0,
        );
        assert_eq!(lines(&run.window()), ["corruption link s1>r2"]);
    }
}

#[test]
fn a_missing_route_loses_one_direction_only() {
    for seed in 0..5 {
        let mut run = small(seed);
        let nic = run.fabric.topology.nic(2, 1);
        let leaf = run.fabric.topology.ends(LinkId(nic.0)).1;
        run.fault(FaultKind::MissingRoute { to: nic }, FaultLocation::Node(leaf), 0);
        let found = run.window();
        assert_eq!(lines(&found), ["no_route nic h2/rail1"]);
        assert_eq!(found.verdicts[0].direction.as_deref(), Some("to"));

        let mut run = small(seed);
        run.fault(FaultKind::MissingRoute { to: nic }, FaultLocation::Nic(nic), 0);
        let found = run.window();
        assert_eq!(lines(&found), ["no_route nic h2/rail1"]);
        assert_eq!(found.verdicts[0].direction.as_deref(), Some("from"));
        assert_eq!(found.sla.unsent, 200);

        let mut run = small(seed);
        let spine = run.fabric.topology.node(Role::Spine(1));
        run.fault(FaultKind::MissingRoute { to: nic }, FaultLocation::Node(spine), 0);
        assert_eq!(lines(&run.window()), ["no_route route h2/rail1 at s1"]);
    }
}

#[test]
fn an_access_list_loses_one_pair() {
    for seed in 0..5 {
        let mut run = small(seed);
        let topology = run.fabric.topology;
        let (src, dst) = (topology.nic(3, 0), topology.nic(3, 2));
        refuse(&mut run, src, dst);
        assert_eq!(lines(&run.window()), ["acl pair h3/rail0 to h3/rail2"]);
    }
}

#[test]
fn a_blackhole_of_one_tuple_is_named_by_its_port() {
    for seed in 0..5 {
        let mut run = small(seed);
        let topology = run.fabric.topology;
        let src = topology.nic(1, 0);
        let port = run.mesh.port(src, 3, crate::hostmesh::run::START);
        let tuple = FiveTuple {
            src,
            dst: topology.nic(1, 3),
            udp_src_port: port,
            udp_dst_port: ROCE_UDP_PORT,
        };
        let spine = run.fabric.route(tuple, crate::hostmesh::run::START).ways()[1];
        run.fault(FaultKind::Blackhole { tuple }, FaultLocation::Direction(spine), 0);
        let expected = format!("blackhole tuple h1/rail0 to h1/rail3, source port {port}");
        assert_eq!(lines(&run.window()), [expected]);
    }
}

#[test]
fn congestion_shows_in_latency_and_with_drops_it_is_problem_five() {
    for seed in 0..5 {
        let mut run = small(seed);
        let hot = way(&run, 0, 1, true);
        let queue = FaultKind::Congestion {
            delay_ns: 300_000,
            loss: 0.0,
        };
        run.fault(queue, FaultLocation::Direction(hot), 0);
        let found = run.second_window();
        assert_eq!(lines(&found), ["congestion link r0>s1"]);
        assert_eq!(found.verdicts[0].problem, Some(6));

        let mut run = small(seed);
        let queue = FaultKind::Congestion {
            delay_ns: 300_000,
            loss: 0.1,
        };
        run.fault(queue, FaultLocation::Direction(hot), 0);
        let found = lines(&run.second_window());
        assert_eq!(found, ["congestion_drops link r0>s1", "congestion link r0>s1"]);

        let mut run = small(seed);
        let nic = run.fabric.topology.nic(2, 2);
        let pause = LinkDirection {
            link: LinkId(nic.0),
            up: false,
        };
        let queue = FaultKind::Congestion {
            delay_ns: 300_000,
            loss: 0.0,
        };
        run.fault(queue, FaultLocation::Direction(pause), 0);
        assert_eq!(lines(&run.second_window()), ["slow_receiver nic h2/rail2"]);
    }
}

#[test]
fn a_slow_host_is_not_a_slow_network() {
    for seed in 0..5 {
        let mut run = small(seed);
        let host = run.fabric.topology.node(Role::Host(2));
        run.fault(
            FaultKind::SlowHost { delay_ns: 2_000_000 },
            FaultLocation::Node(host),
            0,
        );
        let found = run.second_window();
        assert_eq!(lines(&found), ["slow_host host h2"]);
        assert!(found.sla.processing_p99_ns > Some(1_000_000));
        assert!(found.sla.network_p99_ns < Some(100_000));
    }
}

#[test]
fn a_switch_that_loses_everything_is_named() {
    let mut run = small(9);
    let spine = run.fabric.topology.node(Role::Spine(1));
    run.fault(FaultKind::Loss { probability: 0.2 }, FaultLocation::Node(spine), 0);
    assert_eq!(lines(&run.window()), ["loss switch s1"]);
}

#[test]
fn a_nic_and_a_link_that_fail_together_are_both_named() {
    for seed in 0..5 {
        let mut run = small(seed);
        let nic = run.fabric.topology.nic(1, 1);
        let grey = way(&run, 2, 0, true);
        run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), 0);
        run.fault(FaultKind::Loss { probability: 0.1 }, FaultLocation::Direction(grey), 0);
        for _ in 0..3 {
            let mut found = lines(&run.window());
            found.sort();
            assert_eq!(found, ["link_down nic h1/rail1", "loss link r2>s0"]);
        }
    }
}

#[test]
fn a_fault_before_the_first_trace_is_named() {
    let rails = Rails::two_tiers(4, 4, 2);
    for seed in 0..5 {
        let mut run = Run::new(rails, seed);
        let topology = run.fabric.topology;
        let nic = topology.nic(1, 2);
        run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), 0);
        assert_eq!(lines(&run.window()), ["link_down nic h1/rail2"]);
        assert_eq!(lines(&run.window()), ["link_down nic h1/rail2"]);

        let mut run = Run::new(rails, seed);
        let (src, dst) = (topology.nic(0, 3), topology.nic(0, 1));
        refuse(&mut run, src, dst);
        assert_eq!(lines(&run.window()), ["acl pair h0/rail3 to h0/rail1"]);

        // No trace has crossed this link: half of the 5-tuples into rail 0 come no further than other leaves.
        let mut run = Run::new(rails, seed);
        let down = way(&run, 0, 1, false);
        run.fault(FaultKind::LinkDown, FaultLocation::Link(down.link), 0);
        let found = run.window();
        assert_eq!(lines(&found), ["link_down link s1>r0"]);
        assert!(found.sla.timeouts > 300);
        // By the paper's rule the NICs of the rail are anomalous and cause the drops.
        assert_eq!(found.anomalous_nics.len(), 4);
    }
}

#[test]
fn ipv6_rails_are_diagnosed_like_ipv4_rails() {
    let mut rails = Rails::two_tiers(4, 4, 2);
    rails.ipv6 = true;
    let mut run = Run::new(rails, 3);
    run.window();
    let grey = way(&run, 1, 0, true);
    run.fault(FaultKind::Loss { probability: 0.2 }, FaultLocation::Link(grey.link), 0);
    let nic = run.fabric.topology.nic(3, 3);
    run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), 0);
    let mut found = lines(&run.window());
    found.sort();
    assert_eq!(found, ["link_down nic h3/rail3", "loss link r1>s0 and back"]);
}

/// It has no earlier window that shows what is normal for it; the other hosts show it.
#[test]
fn a_host_that_was_slow_before_the_first_window_is_named() {
    let mut run = Run::new(Rails::two_tiers(4, 2, 2), 3);
    let place = FaultLocation::Node(run.fabric.topology.node(Role::Host(2)));
    run.fault(FaultKind::SlowHost { delay_ns: 5_000_000 }, place, 0);
    assert_eq!(
        lines(&run.window()),
        [""; 0],
        "what is late for one window is no verdict"
    );
    for _ in 0..4 {
        assert_eq!(lines(&run.window()), ["slow_host host h2"]);
    }
}
