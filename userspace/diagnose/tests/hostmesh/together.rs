//! Several faults at once: each at its place, and nothing that they have in common.

use crate::hostmesh::faults::way;
use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_fabric::{FaultKind, FaultLocation, FiveTuple, Rails};
use rocescope_model::ROCE_UDP_PORT;
use rocescope_model::{PathRow, Text};

/// 8 hosts, 4 rails, and spines: two windows without a fault.
fn fabric(spines: u32, seed: u64) -> Run {
    let mut run = Run::new(Rails::two_tiers(8, 4, spines), seed);
    for _ in 0..2 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
    run
}

fn places(run: &mut Run) -> Vec<String> {
    let found = run.window();
    let mut places: Vec<String> = (found.verdicts.iter())
        .map(|verdict| format!("{} {}", verdict.place_kind, verdict.place))
        .collect();
    places.sort();
    places
}

#[test]
fn two_links_of_one_switch_are_named_and_not_the_switch() {
    for seed in 0..5 {
        for (one, other) in [(0.05, 0.05), (0.1, 0.1), (0.5, 0.5), (1.0, 0.05), (1.0, 1.0)] {
            for up in [false, true] {
                let mut run = fabric(4, seed);
                for (spine, probability) in [(0, one), (2, other)] {
                    let place = FaultLocation::Direction(way(&run, 1, spine, up));
                    run.fault(FaultKind::Loss { probability }, place, 0);
                }
                let expected = match up {
                    true => ["link r1>s0", "link r1>s2"],
                    false => ["link s0>r1", "link s2>r1"],
                };
                assert_eq!(places(&mut run), expected, "seed {seed}: {one} and {other}");
            }
        }
    }
}

#[test]
fn two_links_that_lose_both_ways_are_named_and_not_the_switch() {
    for seed in 0..5 {
        for (one, other) in [(0.05, 0.05), (0.5, 0.5), (1.0, 0.05), (1.0, 1.0)] {
            let mut run = fabric(4, seed);
            for (spine, probability) in [(0, one), (2, other)] {
                let place = FaultLocation::Link(way(&run, 1, spine, true).link);
                run.fault(FaultKind::Loss { probability }, place, 0);
            }
            let expected = ["link r1>s0 and back", "link r1>s2 and back"];
            assert_eq!(places(&mut run), expected, "seed {seed}: {one} and {other}");
        }
    }
}

#[test]
fn a_nic_and_a_link_of_its_switch_are_named_and_not_the_switch() {
    for seed in 0..5 {
        let mut run = fabric(4, seed);
        let nic = run.fabric.topology.nic(3, 1);
        run.fault(
            FaultKind::Flapping { period_ns: WINDOW / 3 },
            FaultLocation::Nic(nic),
            0,
        );
        let lossy = FaultLocation::Direction(way(&run, 1, 2, true));
        run.fault(FaultKind::Loss { probability: 0.05 }, lossy, 0);
        assert_eq!(places(&mut run), ["link r1>s2", "nic h3/rail1"], "seed {seed}");
    }
}

#[test]
fn with_a_single_spine_a_link_is_not_its_switch() {
    for seed in 0..5 {
        for up in [false, true] {
            let mut run = fabric(1, seed);
            let lossy = FaultLocation::Direction(way(&run, 2, 0, up));
            run.fault(FaultKind::Loss { probability: 0.05 }, lossy, 0);
            let expected = if up { "link r2>s0" } else { "link s0>r2" };
            assert_eq!(places(&mut run), [expected], "seed {seed}");
        }
        // Every probe through the switch crosses its only link: no evidence separates the two.
        let mut run = fabric(1, seed);
        let cable = FaultLocation::Link(way(&run, 2, 0, true).link);
        run.fault(FaultKind::Loss { probability: 0.05 }, cable, 0);
        assert_eq!(places(&mut run), ["link r2>s0 and back or switch r2"], "seed {seed}");
    }
}

#[test]
fn what_fails_right_after_a_nic_is_named_and_not_the_nic() {
    for seed in 0..5 {
        let mut run = fabric(4, seed);
        let nic = run.fabric.topology.nic(5, 3);
        run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), 0);
        assert_eq!(places(&mut run), ["nic h5/rail3"]);
        run.fabric.faults.clear();
        let lossy = FaultLocation::Direction(way(&run, 3, 0, true));
        run.fault(FaultKind::Loss { probability: 0.1 }, lossy, 0);
        assert_eq!(places(&mut run), ["link r3>s0"], "seed {seed}");

        // A 5-tuple of the same NIC.
        run.fabric.faults.clear();
        let port = run.mesh.port(nic, 3, START);
        let tuple = FiveTuple {
            src: nic,
            dst: run.fabric.topology.nic(5, 0),
            udp_src_port: port,
            udp_dst_port: ROCE_UDP_PORT,
        };
        let spine = run.fabric.route(tuple, START).ways()[1];
        run.fault(FaultKind::Blackhole { tuple }, FaultLocation::Direction(spine), 0);
        let expected = format!("tuple h5/rail3 to h5/rail0, source port {port}");
        // A window may have too few probes of one 5-tuple.
        let mut found = [places(&mut run), places(&mut run)].concat();
        found.dedup();
        assert_eq!(found, [expected], "seed {seed}");
    }
}

/// No hop answers of the paths between h5/rail1 and others that have an even port.
fn hides(row: &PathRow) -> bool {
    let is_of = |nic: &Text, host: &Text| nic.as_str() == "rail1" && host.as_str() == "h5";
    let is_inner = row.hop < row.hops;
    is_inner && row.udp_src_port.is_multiple_of(2) && is_of(&row.src_nic, &row.observer)
}

/// A fabric in which paths have unknown hops from the start.
fn hidden(seed: u64) -> Run {
    let mut run = Run::new(Rails::two_tiers(8, 4, 4), seed);
    run.hides = Some(hides);
    for _ in 0..2 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
    run
}

#[test]
fn paths_with_unknown_hops_are_no_evidence_against_a_nic_beside_a_lossy_link() {
    for seed in 0..5 {
        let mut run = hidden(seed);
        let place = FaultLocation::Direction(way(&run, 1, 2, true));
        run.fault(FaultKind::Loss { probability: 0.5 }, place, 0);
        let found = run.window();
        assert_eq!(lines(&found), ["loss link r1>s2"], "seed {seed}");
        let unjudged = found.sla.unjudged.as_str();
        assert!(
            unjudged.ends_with("drops are on paths with an unknown hop"),
            "{unjudged}"
        );
    }
}

#[test]
fn paths_with_unknown_hops_are_evidence_of_what_no_lossy_link_explains() {
    for seed in 0..5 {
        // A NIC alone, and beside a link that loses much less.
        for beside in [false, true] {
            let mut run = hidden(seed);
            let nic = run.fabric.topology.nic(5, 1);
            run.fault(FaultKind::Loss { probability: 0.6 }, FaultLocation::Nic(nic), 0);
            let mut expected = vec!["nic h5/rail1"];
            if beside {
                let place = FaultLocation::Direction(way(&run, 1, 2, true));
                run.fault(FaultKind::Loss { probability: 0.05 }, place, 0);
                expected.insert(0, "link r1>s2");
            }
            assert_eq!(places(&mut run), expected, "seed {seed}");
        }
    }
}

/// A fabric of six spines, in which a topology file joins the ports of each leaf to three of them, and to one of two groups of
/// hosts.
fn with_line_cards(seed: u64) -> Run {
    let mut run = Run::new(Rails::two_tiers(8, 4, 6), seed);
    for leaf in ["r0", "r1", "r2", "r3"] {
        for (card, spines, hosts) in [(1, 0..3, 0..4), (2, 3..6, 4..8)] {
            let spines = spines.map(|spine| format!("s{spine}"));
            let hosts = hosts.map(|host| format!("h{host}"));
            run.analyzer.join_ports(leaf, &format!("{card}/*"), spines.chain(hosts));
        }
    }
    for _ in 0..2 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
    run
}

#[test]
fn a_line_card_is_named_and_neither_its_links_nor_its_switch() {
    for seed in 0..5 {
        for probability in [0.1, 1.0] {
            let mut run = with_line_cards(seed);
            for spine in 0..3 {
                let place = FaultLocation::Link(way(&run, 1, spine, true).link);
                run.fault(FaultKind::Loss { probability }, place, 0);
            }
            for host in 0..4 {
                let place = FaultLocation::Nic(run.fabric.topology.nic(host, 1));
                run.fault(FaultKind::Loss { probability }, place, 0);
            }
            assert_eq!(places(&mut run), ["ports 1/* of r1"], "seed {seed}: {probability}");
        }
    }
}

#[test]
fn one_link_of_a_line_card_and_one_of_each_are_links() {
    for seed in 0..5 {
        for (spines, expected) in [
            (&[1][..], &["link r1>s1"][..]),
            (&[1, 4], &["link r1>s1", "link r1>s4"]),
        ] {
            let mut run = with_line_cards(seed);
            for spine in spines {
                let place = FaultLocation::Direction(way(&run, 1, *spine, true));
                run.fault(FaultKind::Loss { probability: 0.2 }, place, 0);
            }
            assert_eq!(places(&mut run), expected, "seed {seed}");
        }
    }
}

/// What a leaf and all of its uplinks do to packets is the same: the verdict has both.
#[test]
fn a_leaf_of_which_all_uplinks_lose_is_named_with_its_uplinks() {
    for seed in 0..3 {
        let mut run = fabric(4, seed);
        for spine in 0..4 {
            let link = way(&run, 1, spine, true).link;
            let loss = FaultKind::Loss { probability: 0.2 };
            run.fault(loss, FaultLocation::Link(link), 0);
        }
        let found = run.window();
        assert_eq!(lines(&found), ["loss switch r1"], "seed {seed}");
        let verdict = &found.verdicts[0];
        let links = verdict.link.as_deref().unwrap();
        for spine in 0..4 {
            for link in [format!("r1>s{spine}"), format!("s{spine}>r1")] {
                assert!(links.split(' ').any(|one| one == link), "{links}");
            }
        }
        assert!(
            verdict.sentence.contains("; or several of its links do it, of "),
            "{verdict:?}"
        );
    }
}

/// With three leaves, all probes over a spine of which two links are down are lost: it, or its links.
#[test]
fn two_links_of_a_spine_with_three_are_among_those_of_the_verdict() {
    let mut run = Run::new(Rails::two_tiers(4, 3, 2), 1);
    for rail in [1, 2] {
        let link = way(&run, rail, 1, true).link;
        run.fault(FaultKind::LinkDown, FaultLocation::Link(link), 0);
    }
    for _ in 0..3 {
        let found = run.window();
        let [verdict] = &found.verdicts[..] else {
            panic!("{:?}", lines(&found));
        };
        assert_eq!(&*verdict.class, "link_down");
        let links = verdict.link.as_deref().unwrap();
        for link in ["s1>r1", "s1>r2"] {
            assert!(links.split(' ').any(|one| one == link), "{links}");
        }
    }
}

/// Probes that cross both are lost: they show nothing of the corruption.
#[test]
fn corruption_keeps_its_class_beside_a_link_that_is_down() {
    for (nics, spines) in [(3, 2), (4, 2), (4, 4)] {
        for seed in 0..3 {
            let mut run = Run::new(Rails::two_tiers(4, nics, spines), seed);
            run.window();
            let [corrupt, down] = [0, 1].map(|rail| FaultLocation::Direction(way(&run, rail, 0, rail == 0)));
            run.fault(FaultKind::Corruption { probability: 0.2 }, corrupt, 0);
            run.fault(FaultKind::Loss { probability: 1.0 }, down, 0);
            for _ in 0..3 {
                let mut found = lines(&run.window());
                found.sort();
                let expected = ["corruption link r0>s0", "link_down link s0>r1"];
                assert_eq!(found, expected, "{nics} NICs, {spines} spines, seed {seed}");
            }
        }
    }
}
