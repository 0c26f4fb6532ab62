//! The two directions of a pair: a statistic if ECMP separates their paths, a verdict if one takes longer.

use crate::hostmesh::faults::{small, way};
use crate::hostmesh::run::{Run, lines};
use rocescope_fabric::{FaultKind, FaultLocation, LinkDirection, Nic, Rails};

/// Rail switch 0 sends all packets for a NIC over spine 1, with this extra delay.
fn detour(run: &mut Run, to: Nic, delay_ns: i64) -> LinkDirection {
    let detour = way(run, 0, 1, true);
    run.fault(FaultKind::Detour { to, delay_ns }, FaultLocation::Direction(detour), 0);
    detour
}

#[test]
fn a_direction_that_is_slower_than_the_other_is_named_although_it_always_was() {
    for seed in 0..5 {
        let mut run = Run::new(Rails::two_tiers(4, 4, 2), seed);
        let topology = run.fabric.topology;
        let to = topology.nic(1, 3);
        let detour = detour(&mut run, to, 60_000);
        // The first window has no margin yet, and what is late for one window is no verdict.
        for _ in 0..2 {
            assert_eq!(lines(&run.window()), [""; 0]);
        }
        for _ in 0..3 {
            let found = run.window();
            assert_eq!(lines(&found), ["asymmetric_path pair h1/rail0 to h1/rail3"]);
            let verdict = &found.verdicts[0];
            assert_eq!((&*verdict.symptom, verdict.problem), ("asymmetry", None));
            assert!(verdict.anomalous_ratio > 0.9, "{verdict:?}");
            assert!(verdict.sentence.contains("in the other direction"));
            // The 5-tuples that an operator has to examine are those of the pair, and cross the detour.
            let from = topology.nic(1, 0);
            let pool: Vec<u16> = (0..8).map(|slot| run.mesh.port(from, slot, found.start_ns)).collect();
            let (src, dst) = (topology.nic_address(from), topology.nic_address(to));
            for tuple in verdict.worst_tuples.as_deref().unwrap().split(' ') {
                let (pair, port) = tuple.rsplit_once(':').unwrap();
                assert_eq!(pair, format!("{src}>{dst}"));
                let port = port.parse().unwrap();
                assert!(pool.contains(&port), "{tuple}");
                let sent = rocescope_fabric::FiveTuple {
                    src: from,
                    dst: to,
                    udp_src_port: port,
                    udp_dst_port: rocescope_model::ROCE_UDP_PORT,
                };
                assert_eq!(run.fabric.route(sent, found.start_ns).ways()[1], detour);
            }
        }
    }
}

#[test]
fn a_nic_that_always_takes_longer_to_send_is_no_asymmetric_path() {
    for seed in 0..5 {
        let mut run = Run::new(Rails::two_tiers(4, 4, 2), seed);
        run.slow_sender = Some(("rail0", 60_000));
        for _ in 0..4 {
            assert_eq!(lines(&run.window()), [""; 0], "seed {seed}");
        }
        // A path of it that is longer still is one.
        let to = run.fabric.topology.nic(1, 3);
        run.slow_sender = Some(("rail0", 60_000));
        detour(&mut run, to, 200_000);
        assert_eq!(
            lines(&run.second_window()),
            ["asymmetric_path pair h1/rail0 to h1/rail3"],
            "seed {seed}"
        );
    }
}

#[test]
fn a_new_detour_is_not_congestion() {
    let mut run = small(3);
    let to = run.fabric.topology.nic(2, 1);
    detour(&mut run, to, 80_000);
    let found = run.second_window();
    assert_eq!(lines(&found), ["asymmetric_path pair h2/rail0 to h2/rail1"]);
    assert_eq!(&*found.verdicts[0].symptom, "latency");
}

#[test]
fn a_difference_within_the_error_of_the_clocks_gives_no_verdict() {
    for (clock_error_ns, verdicts) in [(0, 1), (40_000, 0)] {
        let mut run = Run::new(Rails::two_tiers(4, 4, 2), 7);
        run.mesh.clock_error_ns = clock_error_ns;
        let to = run.fabric.topology.nic(0, 2);
        detour(&mut run, to, 30_000);
        run.window();
        assert_eq!(run.second_window().verdicts.len(), verdicts, "{clock_error_ns}");
    }
}

/// As measured between veth pairs: the first NIC that sends in a turn finds the caches cold, in some windows and not in others.
#[test]
fn of_few_nics_the_sender_that_is_slow_from_time_to_time_is_no_verdict() {
    for nics in [2, 3, 4] {
        for seed in 0..3 {
            let mut run = Run::new(Rails::two_tiers(4, nics, 2), seed);
            // The error of time stamps of the kernel.
            run.mesh.clock_error_ns = 64_000;
            for window in 0..60 {
                run.slow_sender = Some(("rail0", [0, 27_000, 22_000, 0, 35_000][window % 5]));
                assert_eq!(
                    lines(&run.window()),
                    [""; 0],
                    "{nics} NICs, seed {seed}, window {window}"
                );
            }
        }
    }
}

#[test]
fn of_three_nics_one_that_always_takes_longer_to_send_is_no_asymmetric_path_and_a_longer_path_is() {
    for seed in 0..3 {
        let mut run = Run::new(Rails::two_tiers(4, 3, 2), seed);
        run.slow_sender = Some(("rail0", 60_000));
        for _ in 0..4 {
            assert_eq!(lines(&run.window()), [""; 0], "seed {seed}");
        }
        let to = run.fabric.topology.nic(1, 2);
        detour(&mut run, to, 200_000);
        assert_eq!(
            lines(&run.second_window()),
            ["asymmetric_path pair h1/rail0 to h1/rail2"],
            "seed {seed}"
        );
    }
}

#[test]
fn ecmp_separates_the_directions_of_a_healthy_fabric_and_that_is_a_statistic() {
    // One spine: one path, the same in both directions.
    let narrow = Run::new(Rails::two_tiers(4, 4, 1), 1).window();
    assert_eq!(narrow.sla.asymmetric_ratio, Some(0.0));
    // 4 * 8 * 4 paths, 8 source ports.
    let mut wide = Run::new(Rails::three_tiers(8, 4, 4, 4, 8), 1);
    for _ in 0..6 {
        let found = wide.window();
        assert!(found.sla.asymmetric_ratio > Some(0.8), "{:?}", found.sla);
        assert_eq!(lines(&found), [""; 0]);
    }
}

/// Both where it began before the first window, whose spread must not hide it, and later.
#[test]
fn a_queue_of_an_uplink_is_congestion_of_it_and_no_other_route() {
    for (hosts, nics, spines) in [(4, 2, 2), (1, 2, 2), (4, 2, 12), (4, 3, 2), (4, 3, 12), (4, 4, 12)] {
        // Where half of all probes wait from the start on, nothing shows what is normal.
        let is_half = hosts == 1;
        for before in [0, 2].into_iter().filter(|before| *before > 0 || !is_half) {
            let mut run = Run::new(Rails::two_tiers(hosts, nics, spines), 5);
            for _ in 0..before {
                assert_eq!(lines(&run.window()), [""; 0]);
            }
            let uplink = way(&run, 0, 1, true);
            let delay_ns = 1_000_000;
            let queue = FaultKind::Congestion { delay_ns, loss: 0.0 };
            run.fault(queue, FaultLocation::Direction(uplink), 0);
            // What is late for one window is no verdict, and the first has no margin.
            let unnamed = if before == 0 { 2 } else { 1 };
            for window in 0..5 {
                let found = lines(&run.window());
                match window {
                    _ if window < unnamed => assert_eq!(found, [""; 0]),
                    _ => assert!(
                        matches!(&found[..], [one] if one.starts_with("congestion link r0>s1")),
                        "{hosts} hosts, {nics} NICs, {spines} spines: {found:?}"
                    ),
                }
            }
        }
    }
}
