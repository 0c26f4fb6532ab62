//! The way there and the way back: a figure where ECMP parts them, a verdict where one takes longer.

use crate::faults::{small, way};
use crate::run::{Run, lines};
use rocescope_fabric::{Kind, Nic, Place, Rails, Way};

/// Rail switch 0 sends what goes to a NIC over spine 1 alone, where it takes so much longer.
fn detour(run: &mut Run, to: Nic, delay_ns: i64) -> Way {
    let detour = way(run, 0, 1, true);
    run.fault(Kind::Detour { to, delay_ns }, Place::Way(detour), 0);
    detour
}

#[test]
fn a_way_that_is_longer_than_the_way_back_is_named_though_it_was_always_so() {
    for seed in 0..5 {
        let mut run = Run::new(Rails::two_tiers(4, 4, 2), seed);
        let topology = run.fabric.topology;
        let to = topology.nic(1, 3);
        let detour = detour(&mut run, to, 60_000);
        assert_eq!(lines(&run.window()), [""; 0]);
        for _ in 0..3 {
            let found = run.window();
            assert_eq!(lines(&found), ["asymmetric_path pair h1/rail0 to h1/rail3"]);
            let verdict = &found.verdicts[0];
            assert_eq!((&*verdict.symptom, verdict.problem), ("asymmetry", None));
            assert!(verdict.anomalous_ratio > 0.9, "{verdict:?}");
            assert!(verdict.sentence.contains("later than those back"));
            // The 5-tuples that an operator has to look for are those of the pair, and go over the detour.
            let from = topology.nic(1, 0);
            let pool: Vec<u16> = (0..8)
                .map(|slot| run.mesh.port(from, slot, found.start_ns))
                .collect();
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
                    udp_dst_port: rocescope_fabric::ROCE_PORT,
                };
                assert_eq!(run.fabric.route(sent, found.start_ns).ways()[1], detour);
            }
        }
    }
}

#[test]
fn a_detour_that_begins_is_told_from_congestion() {
    let mut run = small(3);
    let to = run.fabric.topology.nic(2, 1);
    detour(&mut run, to, 80_000);
    let found = run.window();
    assert_eq!(lines(&found), ["asymmetric_path pair h2/rail0 to h2/rail1"]);
    assert_eq!(&*found.verdicts[0].symptom, "latency");
}

#[test]
fn what_the_clocks_may_explain_is_not_said() {
    for (clock_error_ns, verdicts) in [(0, 1), (40_000, 0)] {
        let mut run = Run::new(Rails::two_tiers(4, 4, 2), 7);
        run.mesh.clock_error_ns = clock_error_ns;
        let to = run.fabric.topology.nic(0, 2);
        detour(&mut run, to, 30_000);
        run.window();
        assert_eq!(run.window().verdicts.len(), verdicts, "{clock_error_ns}");
    }
}

#[test]
fn ecmp_parts_the_two_ways_of_a_healthy_fabric_and_that_is_a_figure() {
    // One spine: there is one way, and it is the way back.
    let narrow = Run::new(Rails::two_tiers(4, 4, 1), 1).window();
    assert_eq!(narrow.sla.asymmetric_ratio, Some(0.0));
    // 4 * 8 * 4 ways, 8 source ports.
    let mut wide = Run::new(Rails::three_tiers(8, 4, 4, 4, 8), 1);
    for _ in 0..6 {
        let found = wide.window();
        assert!(found.sla.asymmetric_ratio > Some(0.8), "{:?}", found.sla);
        assert_eq!(lines(&found), [""; 0]);
    }
}
