//! Links that lose so little that one window is no evidence.

use crate::hostmesh::faults::way;
use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_fabric::{FaultKind, FaultLocation, Rails};

/// 32 hosts, 8 rails, 8 spines: 800 probes a window over a link.
fn fabric(seed: u64) -> Run {
    let mut run = Run::new(Rails::two_tiers(32, 8, 8), seed);
    assert_eq!(lines(&run.window()), [""; 0]);
    run
}

#[test]
fn a_link_that_loses_one_probe_in_two_hundred_is_named_within_two_minutes() {
    let mut named_at = Vec::new();
    for seed in 0..8 {
        let mut run = fabric(seed);
        let grey = FaultLocation::Direction(way(&run, 2, 5, true));
        run.fault(FaultKind::Loss { probability: 0.005 }, grey, 0);
        let begun = run.fabric.faults[0].from_ns;
        for window in 1..=6 {
            let found = run.window();
            for verdict in &found.verdicts {
                assert_eq!(
                    (&*verdict.class, &*verdict.place),
                    ("loss", "r2>s5"),
                    "seed {seed}: {}",
                    verdict.sentence
                );
                // No earlier than the fault, and within the windows that count.
                let since = verdict.since_ns - begun;
                assert!((0..6 * WINDOW).contains(&since), "{since}: {}", verdict.sentence);
            }
            if !found.verdicts.is_empty() {
                let sentence = found.verdicts[0].sentence.as_str();
                named_at.push((window, sentence.contains(" windows were lost")));
                break;
            }
        }
    }
    assert_eq!(named_at.len(), 8, "{named_at:?}");
    // One window alone sometimes suffices.
    assert!(
        named_at.iter().filter(|(_, several)| *several).count() > 4,
        "{named_at:?}"
    );
}

#[test]
fn corrupt_packets_stay_corrupt_over_windows() {
    let mut run = fabric(3);
    let grey = FaultLocation::Direction(way(&run, 1, 1, false));
    run.fault(FaultKind::Corruption { probability: 0.006 }, grey, 0);
    let found: Vec<String> = (0..6).flat_map(|_| lines(&run.window())).collect();
    assert!(
        !found.is_empty() && found.iter().all(|line| line == "corruption link s1>r1"),
        "{found:?}"
    );
}

#[test]
fn drops_of_one_window_do_not_become_a_link_later() {
    let mut run = fabric(4);
    let hiccup = FaultLocation::Direction(way(&run, 2, 5, true));
    run.fault(FaultKind::Loss { probability: 0.004 }, hiccup, 0);
    run.fabric.faults[0].until_ns = START + 2 * WINDOW;
    for _ in 0..6 {
        assert_eq!(lines(&run.window()), [""; 0]);
    }
}
