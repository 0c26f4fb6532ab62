//! Loss that no place explains.

use crate::hostmesh::faults::way;
use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_diagnose::hostmesh::document::Finding;
use rocescope_diagnose::hostmesh::{Analyzer, Problem, Settings, WindowDiagnosis};
use rocescope_diagnose::incidents::{Certainty, convert};
use rocescope_fabric::{FaultKind, FaultLocation, FiveTuple, Rails, Role};
use rocescope_model::{PathRow, ProbeRow, Text, Time, VerdictRow};

const UNLOCATED: [&str; 1] = ["unlocated_loss mesh mesh"];

/// Removes the routes of a spine to all NICs of a rail.
fn without_routes(run: &mut Run, spine: u32, rail: u32) {
    let place = FaultLocation::Node(run.fabric.topology.node(Role::Spine(spine)));
    for host in 0..run.fabric.topology.rails().hosts {
        let to = run.fabric.topology.nic(host, rail);
        run.fault(FaultKind::MissingRoute { to }, place, 0);
    }
}

fn heal(run: &mut Run, after_windows: i64) {
    for fault in &mut run.fabric.faults {
        fault.until_ns = START + after_windows * WINDOW;
    }
}

/// The only verdict.
fn only(found: &WindowDiagnosis) -> &VerdictRow {
    assert_eq!(lines(found), UNLOCATED);
    &found.verdicts[0]
}

#[test]
fn where_no_hop_answers_loss_is_a_verdict_in_every_window_with_loss_and_in_none_after() {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 1);
    run.hides = Some(|row: &PathRow| row.hop < row.hops);
    without_routes(&mut run, 1, 2);
    heal(&mut run, 20);
    let mut problem: Option<Problem> = None;
    // Ports are renewed after five minutes: a part of these windows.
    for window in 0..24 {
        let found = run.window();
        if window >= 20 {
            assert_eq!(lines(&found), [""; 0], "window {window}");
            assert_eq!(found.sla.timeouts, 0);
            continue;
        }
        let verdict = only(&found);
        assert_eq!((&*verdict.symptom, verdict.problem), ("loss", None));
        assert_eq!(verdict.anomalous, found.sla.timeouts, "window {window}");
        assert_eq!(verdict.probes, found.sla.probes);
        assert_eq!(
            (found.sla.network_drops, found.sla.unlocated_drops),
            (Some(0), Some(verdict.anomalous))
        );
        assert!(verdict.anomalous > 200 && verdict.score > 500.0, "{verdict:?}");
        let whom = "all of them to NICs named rail2; not located because no trace of their 5-tuples reached the destination (all of them): a router \
                    on the way does not answer or has no route";
        assert!(
            verdict.sentence.starts_with("mesh: ") && verdict.sentence.ends_with(whom),
            "{}",
            verdict.sentence
        );
        let tuples = verdict.worst_tuples.as_deref().unwrap();
        let rail2: Vec<String> = (0..4)
            .map(|host| {
                run.fabric
                    .topology
                    .nic_address(run.fabric.topology.nic(host, 2))
                    .to_string()
            })
            .collect();
        assert_eq!(tuples.split(' ').count(), 8);
        for tuple in tuples.split(' ') {
            let (_, to) = tuple.split_once('>').unwrap();
            assert!(
                rail2.iter().any(|address| to.starts_with(&format!("{address}:"))),
                "{tuple}"
            );
        }
        match &mut problem {
            Some(problem) => {
                assert!(problem.continues_in(verdict), "window {window}");
                problem.add(verdict);
            }
            None => problem = Some(Problem::new(verdict)),
        }
    }
    let problem = problem.unwrap();
    assert_eq!((problem.windows, problem.until_ns), (20, START + 20 * WINDOW));
    assert!(problem.worst.since_ns - START < WINDOW / 20);

    let pairs = problem.worst.worst_tuples.as_deref().unwrap().split(' ').count();
    let incident = convert::mesh(&Finding::from(problem), &run.analyzer.addresses(), START + 24 * WINDOW);
    assert_eq!(
        (&*incident.class, incident.certainty),
        ("unlocated_loss", Certainty::Certain)
    );
    assert_eq!(
        (&*incident.place.kind, &*incident.place.name, incident.is_open),
        ("mesh", "mesh", false)
    );
    assert!(!incident.place.pairs.is_empty() && incident.place.pairs.len() <= pairs);
    assert!(
        incident
            .sentence()
            .contains(" probes were lost, all of them to NICs named rail2; not located")
    );
    assert!(
        incident.unknown[0].starts_with("where it is: "),
        "{:?}",
        incident.unknown
    );
}

#[test]
fn routes_that_a_spine_never_had_are_located_in_every_window_with_loss() {
    for (spines, spine, rail, seed) in [(2, 1, 2, 1), (12, 7, 1, 3)] {
        let mut run = Run::new(Rails::two_tiers(4, 4, spines), seed);
        without_routes(&mut run, spine, rail);
        heal(&mut run, 20);
        let mut problem: Option<Problem> = None;
        // Ports are renewed after five minutes: a part of these windows.
        for window in 0..22 {
            let found = run.window();
            if window >= 20 {
                assert_eq!(lines(&found), [""; 0], "window {window}");
                continue;
            }
            assert_eq!(
                lines(&found),
                [format!("link_down link s{spine}>r{rail}")],
                "window {window}"
            );
            let verdict = &found.verdicts[0];
            assert_eq!(verdict.anomalous, found.sla.timeouts, "window {window}");
            let by_place = (found.sla.nic_drops, found.sla.network_drops, found.sla.unlocated_drops);
            assert_eq!(by_place, (Some(0), Some(verdict.anomalous), Some(0)), "window {window}");
            match &mut problem {
                Some(problem) => {
                    assert!(problem.continues_in(verdict), "window {window}");
                    problem.add(verdict);
                }
                None => problem = Some(Problem::new(verdict)),
            }
        }
        assert_eq!(problem.unwrap().windows, 20);
    }
}

#[test]
fn a_route_to_one_nic_that_a_spine_never_had_is_at_that_spine() {
    for seed in 0..4 {
        let mut run = Run::new(Rails::two_tiers(4, 4, 4), seed);
        let to = run.fabric.topology.nic(2, 1);
        let place = FaultLocation::Node(run.fabric.topology.node(Role::Spine(3)));
        run.fault(FaultKind::MissingRoute { to }, place, 0);
        for window in 0..18 {
            let found = run.window();
            let [verdict] = &found.verdicts[..] else {
                panic!("seed {seed}, window {window}: {:?}", lines(&found))
            };
            // One 5-tuple alone is as likely at fault itself.
            let is_alone = !verdict.worst_tuples.as_deref().unwrap().contains(' ');
            let is_tuple = verdict.place.starts_with("h2/") && &*verdict.class == "blackhole";
            let is_route = &*verdict.place == "h2/rail1 at s3" && &*verdict.class == "no_route";
            assert!(
                is_route || is_alone && is_tuple,
                "seed {seed}, window {window}: {verdict:?}"
            );
        }
    }
}

#[test]
fn a_tuple_that_was_never_delivered_is_one_and_no_link() {
    for seed in 0..4 {
        let mut run = Run::new(Rails::two_tiers(4, 4, 4), seed);
        let (src, dst) = (run.fabric.topology.nic(2, 1), run.fabric.topology.nic(2, 3));
        let udp_src_port = run.mesh.port(src, 3, START);
        let tuple = FiveTuple {
            src,
            dst,
            udp_src_port,
            udp_dst_port: 4791,
        };
        let way = run.fabric.route(tuple, START).ways()[1];
        run.fault(FaultKind::Blackhole { tuple }, FaultLocation::Direction(way), 0);
        for _ in 0..3 {
            let found = run.window();
            let place = format!("blackhole tuple h2/rail1 to h2/rail3, source port {udp_src_port}");
            assert_eq!(lines(&found), [place], "seed {seed}");
        }
    }
}

#[test]
fn without_a_topology_the_last_hop_that_answers_is_named_with_its_next_hops() {
    let mut run = Run::new(Rails::two_tiers(4, 3, 2), 1);
    run.analyzer = Analyzer::new(Settings::default(), "diagnose").unwrap();
    without_routes(&mut run, 1, 2);
    let topology = run.fabric.topology;
    for window in 0..18 {
        let found = run.window();
        assert_eq!(
            found.verdicts.iter().map(|verdict| verdict.anomalous).sum::<u64>(),
            found.sla.timeouts
        );
        for verdict in &found.verdicts {
            let port = verdict.switch.as_deref().unwrap();
            // Of a switch without a name, the port towards a NIC.
            assert_eq!(&*verdict.place, format!("{port} or its next hops"), "window {window}");
            let nics = (0..4).flat_map(|host| [0, 1].map(|rail| topology.nic(host, rail)));
            let mut ports = nics.map(|nic| topology.address(rocescope_fabric::LinkId(nic.0), true));
            assert!(ports.any(|address| address.to_string() == port), "{port}");
        }
    }
}

#[test]
fn a_fault_that_outlasts_its_ports_keeps_its_verdict() {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 1);
    assert_eq!(lines(&run.window()), [""; 0]);
    without_routes(&mut run, 1, 2);
    heal(&mut run, 50);
    let mut problem: Option<Problem> = None;
    // Three renewals of ports.
    for window in 1..52 {
        let found = run.window();
        assert_eq!(found.verdicts.is_empty(), found.sla.timeouts == 0, "window {window}");
        for verdict in &found.verdicts {
            assert_eq!(&*verdict.place, "s1>r2", "window {window}: {:?}", lines(&found));
            match &mut problem {
                Some(problem) => {
                    assert!(problem.continues_in(verdict), "window {window}");
                    problem.add(verdict);
                }
                None => problem = Some(Problem::new(verdict)),
            }
        }
    }
    assert_eq!(problem.unwrap().windows, 49);
}

#[test]
fn a_located_link_is_the_only_verdict_also_where_traces_are_cut_short() {
    for (hides, loss) in [(false, 0.3), (true, 0.3), (true, 1.0)] {
        let mut run = Run::new(Rails::two_tiers(8, 4, 2), 2);
        assert_eq!(lines(&run.window()), [""; 0]);
        let way = way(&run, 1, 0, true);
        run.fault(
            FaultKind::Loss { probability: loss },
            FaultLocation::Direction(way),
            WINDOW / 2,
        );
        if hides {
            // Hops after the lossy link do not answer.
            run.hides = Some(|row: &PathRow| row.hop == 2 && row.udp_src_port.is_multiple_of(3));
        }
        for window in 0..20 {
            let found = run.window();
            let places: Vec<&str> = found.verdicts.iter().map(|verdict| &*verdict.place).collect();
            assert_eq!(
                places,
                ["r1>s0"],
                "window {window}, {hides} {loss}: {:?}",
                lines(&found)
            );
        }
    }
}

#[test]
fn a_located_link_does_not_hide_one_that_was_never_traced_and_shares_no_probes_with_it() {
    let mut run = Run::new(Rails::two_tiers(8, 4, 4), 5);
    without_routes(&mut run, 3, 2);
    assert_eq!(lines(&run.window()), ["link_down link s3>r2"]);
    let way = way(&run, 0, 1, true);
    run.fault(FaultKind::Loss { probability: 0.2 }, FaultLocation::Direction(way), 0);
    for _ in 0..3 {
        let found = run.window();
        let mut lines = lines(&found);
        lines.sort();
        assert_eq!(lines, ["link_down link s3>r2", "loss link r0>s1"]);
        let [link, other] = &found.verdicts[..] else { panic!() };
        assert!(link.probes + other.probes <= found.sla.probes);
        assert_eq!(link.anomalous + other.anomalous, found.sla.timeouts);
    }
}

#[test]
fn loss_as_in_a_healthy_fabric_is_no_verdict_and_more_of_it_everywhere_is() {
    for (probability, is_found) in [(1e-5, false), (4e-4, true)] {
        let mut run = Run::new(Rails::two_tiers(8, 8, 8), 7);
        for node in 0..run.fabric.topology.nodes() {
            let place = FaultLocation::Node(rocescope_fabric::NodeId(node));
            run.fault(FaultKind::Loss { probability }, place, 0);
        }
        let mut windows = 0;
        for _ in 0..8 {
            let found = run.window();
            let unlocated = found
                .verdicts
                .iter()
                .find(|verdict| &*verdict.class == "unlocated_loss");
            if let Some(verdict) = unlocated {
                windows += 1;
                assert!(is_found, "{}", verdict.sentence);
                assert!(
                    verdict.sentence.contains(" probes were lost, between NICs of "),
                    "{}",
                    verdict.sentence
                );
                let why =
                    "the paths that lose have no NIC, link or switch in common that others do not cross without loss";
                assert!(verdict.sentence.ends_with(why), "{}", verdict.sentence);
            }
        }
        assert_eq!(windows > 3, is_found, "{windows}");
    }
}

/// The verdicts on the second of two windows in which three hosts of one NIC each probe each other, without any trace. In the
/// first, everything arrives. In the second, `h2` sends only if it runs, and `to_it` has the outcomes of the probes to it, in
/// turn.
fn between_hosts(runs: bool, to_it: &[&'static str]) -> Vec<String> {
    let mut analyzer = Analyzer::new(Settings::default(), "diagnose").unwrap();
    let mut found = Vec::new();
    for window in 0..2 {
        for turn in 0..100 {
            for (src, dst) in [(0, 1), (1, 0), (0, 2), (1, 2), (2, 0), (2, 1)] {
                let outcome = match (window, dst) {
                    (1, 2) => to_it[turn as usize % to_it.len()],
                    _ => "received",
                };
                if window == 1 && src == 2 && !runs {
                    continue;
                }
                let time_ns = START + window * WINDOW + turn * WINDOW / 100;
                analyzer.probe(&ProbeRow {
                    observer: format!("h{src}").into(),
                    time_ns,
                    src_nic: Text::from("rail0"),
                    src: [10, 0, 0, src].into(),
                    dst: [10, 0, 0, dst].into(),
                    udp_src_port: 50_000 + (turn % 4) as u16,
                    udp_dst_port: 4791,
                    outcome: outcome.into(),
                    ..ProbeRow::default()
                });
            }
        }
        found = analyzer.advance(Time(START + (window + 1) * WINDOW));
    }
    lines(&found[0])
}

#[test]
fn loss_to_a_host_that_is_silent_or_answers_nothing_is_no_verdict_of_its_own() {
    let half = ["received", "timeout"];
    assert_eq!(between_hosts(true, &half), UNLOCATED);
    assert_eq!(between_hosts(false, &half), ["silent host h2"]);
    let hardly = [
        "unknown", "timeout", "unknown", "unknown", "received", "unknown", "unknown",
    ];
    assert_eq!(between_hosts(true, &hardly), [""; 0]);
    assert_eq!(between_hosts(true, &["unknown", "received", "timeout"]), UNLOCATED);
}
