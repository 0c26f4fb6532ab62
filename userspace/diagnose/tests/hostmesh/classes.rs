//! Probes of several classes of service: each has its own queues, and so its own losses and times.

use crate::hostmesh::faults::{small, way, way_of};
use crate::hostmesh::run::{Run, lines};
use rocescope_fabric::probing::Probe;
use rocescope_fabric::{Fabric, FaultKind, FaultLocation, Rails};
use rocescope_model::ProbeRow;

/// Switch 0 loses every fifth probe of the class on the way to spine 1.
fn lossy(fabric: &Fabric, probe: &Probe, row: &mut ProbeRow) {
    let route = fabric.route(probe.tuple, probe.sent_ns);
    let crosses = route.ways().contains(&way_of(fabric, 0, 1, true));
    if row.dscp == Some(26) && crosses && probe.sequence.is_multiple_of(5) {
        row.outcome = "timeout".into();
        row.network_latency_ns = None;
        row.processing_delay_ns = None;
    }
}

/// Another queue: always longer.
fn slower(_: &Fabric, _: &Probe, row: &mut ProbeRow) {
    if row.dscp == Some(26) {
        row.network_latency_ns = row.network_latency_ns.map(|ns| ns + 100_000);
    }
}

/// Both classes, and nothing happens to either.
fn as_ever(_: &Fabric, _: &Probe, _: &mut ProbeRow) {}

#[test]
fn the_class_that_alone_is_lost_is_named() {
    for seed in 0..5 {
        let mut run = small(seed);
        run.of_class = Some(lossy);
        let found = run.window();
        assert_eq!(lines(&found), ["loss link r0>s1"]);
        let sentence = &found.verdicts[0].sentence;
        assert!(
            sentence.contains("; only those with DSCP 26, and none of "),
            "{sentence}"
        );
        assert!(
            sentence.ends_with(" with DSCP 0: look at the queue, buffer and PFC settings of that class"),
            "{sentence}"
        );
    }
}

#[test]
fn a_loss_of_all_classes_names_none() {
    let mut run = small(2);
    run.of_class = Some(as_ever);
    let faulty = FaultLocation::Direction(way(&run, 0, 1, true));
    run.fault(FaultKind::Loss { probability: 0.2 }, faulty, 0);
    let found = run.window();
    assert_eq!(lines(&found), ["loss link r0>s1"]);
    assert!(
        !found.verdicts[0].sentence.contains("DSCP"),
        "{}",
        found.verdicts[0].sentence
    );
}

/// Without a baseline of its own, each class would be late compared with the other, or the margin as wide as the distance.
#[test]
fn classes_have_baselines_of_their_own() {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 3);
    run.of_class = Some(slower);
    for _ in 0..3 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
    let to = run.fabric.topology.nic(2, 1);
    let detour = FaultLocation::Direction(way(&run, 0, 1, true));
    run.fault(FaultKind::Detour { to, delay_ns: 80_000 }, detour, 0);
    assert_eq!(
        lines(&run.second_window()),
        ["asymmetric_path pair h2/rail0 to h2/rail1"]
    );
}
