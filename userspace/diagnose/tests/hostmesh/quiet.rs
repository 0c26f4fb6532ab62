//! A healthy fabric gives no verdicts.

use crate::hostmesh::run::{Run, lines};
use rocescope_diagnose::hostmesh::{Document, Settings};
use rocescope_fabric::{Clocks, FaultKind, FaultLocation, Rails, Role};
use rocescope_model::human::grouped;

#[test]
fn an_hour_without_faults_gives_no_verdict() {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 1);
    run.fabric.clocks = Clocks {
        offset_ns: 3_000_000,
        drift_ppb: 10_000,
        seed: 5,
    };
    run.mesh.clock_error_ns = 2_000;
    for window in 0..180 {
        let found = run.window();
        assert_eq!(lines(&found), [""; 0], "window {window}");
        assert_eq!(found.anomalous_nics, [""; 0]);
        assert_eq!(found.sla.unjudged.is_empty(), window > 0);
        // Every direction of every link: 16 NICs and 8 links between switches.
        assert_eq!(found.coverage.len(), 48);
        assert!(found.coverage.iter().all(|link| link.probes > 0));
    }
}

#[test]
fn the_accepted_background_loss_gives_no_verdict() {
    let mut run = Run::new(Rails::two_tiers(8, 4, 2), 2);
    let everywhere: Vec<u32> = (0..run.fabric.topology.nodes()).collect();
    for node in everywhere {
        let place = FaultLocation::Node(rocescope_fabric::NodeId(node));
        run.fault(FaultKind::Loss { probability: 3e-5 }, place, 0);
    }
    let mut document = Document::default();
    for _ in 0..60 {
        let found = run.window();
        assert_eq!(lines(&found), [""; 0]);
        document.add(found, &[], Vec::new());
    }
    let lossy = || document.windows.iter().filter(|window| window.timeouts > 0);
    let (windows, drops) = (lossy().count(), lossy().map(|window| window.timeouts).sum::<u64>());
    assert!(drops > 20, "{drops}");
    // It is stated all the same.
    let probes = grouped(lossy().map(|window| window.probes).sum());
    let stated = format!(
        "no problems found; {drops} of {probes} probes lost in {windows} windows, too few in each for a verdict\n"
    );
    assert!(document.text().starts_with(&stated), "{}", document.text());
}

#[test]
fn a_window_with_few_probes_gives_no_verdict_on_a_place_and_the_reason() {
    let settings = Settings {
        min_window: 10_000,
        ..Settings::default()
    };
    let mut run = Run::with(Rails::two_tiers(4, 4, 2), 1, settings);
    let nic = run.fabric.topology.nic(0, 0);
    run.fault(FaultKind::LinkDown, FaultLocation::Nic(nic), 0);
    let found = run.window();
    assert_eq!(lines(&found), ["unlocated_loss mesh mesh"]);
    let sentence = &found.verdicts[0].sentence;
    assert!(
        sentence.ends_with("the window has too few probes to judge places"),
        "{sentence}"
    );
    assert!(found.sla.unjudged.contains("only 3200 of 10000 required probes"));
    assert!(found.sla.timeouts > 100);
}

#[test]
fn a_uniformly_slow_fabric_has_no_slow_place() {
    let mut run = Run::new(Rails::two_tiers(4, 4, 2), 4);
    for _ in 0..3 {
        run.window();
    }
    let spines: Vec<_> = (0..2).map(|s| run.fabric.topology.node(Role::Spine(s))).collect();
    for spine in spines {
        let queue = FaultKind::Congestion {
            delay_ns: 400_000,
            loss: 0.0,
        };
        run.fault(queue, FaultLocation::Node(spine), 0);
    }
    assert_eq!(lines(&run.window()), [""; 0]);
}
