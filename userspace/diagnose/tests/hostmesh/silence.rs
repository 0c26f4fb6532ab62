//! Hosts whose probes stop.

use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_fabric::Rails;
use rocescope_model::Time;

const SECOND: i64 = 1_000_000_000;
const FOR_EVER: i64 = i64::MAX;

fn mesh() -> Run {
    Run::new(Rails::two_tiers(4, 2, 2), 3)
}

#[test]
fn a_host_that_stops_is_named_with_its_last_probe_until_it_is_back() {
    // Early in the third window, right before its middle, and at its end.
    for (after, in_window) in [(1, 2), (9, 2), (19, 3)] {
        let stops = 2 * WINDOW + after * SECOND;
        let mut run = mesh();
        run.silent = vec![("h1", stops, 6 * WINDOW)];
        for window in 0..8 {
            let found = run.window();
            if !(in_window..6).contains(&window) {
                assert_eq!(lines(&found), [""; 0], "window {window}, stopped after {after} s");
                continue;
            }
            assert_eq!(
                lines(&found),
                ["silent host h1"],
                "window {window}, stopped after {after} s"
            );
            let verdict = &found.verdicts[0];
            let last = verdict.since_ns - START;
            assert!(last < stops && last > stops - SECOND, "{last}");
            assert_eq!((&*verdict.symptom, verdict.host.as_deref()), ("silence", Some("h1")));
            assert!(verdict.anomalous <= verdict.probes && verdict.anomalous > 0);
            let since = format!("h1: no probe since {:.1}, ", Time(verdict.since_ns));
            assert!(verdict.sentence.starts_with(&since), "{}", verdict.sentence);
            assert_eq!(found.sla.silent_hosts, u64::from(window > 2));
        }
    }
}

/// What it sent in its last window does not show how much it usually sends.
#[test]
fn a_host_that_stops_right_after_the_start_of_a_window_is_named_in_that_window() {
    let mut run = mesh();
    run.silent = vec![("h1", 2 * WINDOW + SECOND / 10, FOR_EVER)];
    for window in 0..5 {
        let expected: &[&str] = if window < 2 { &[] } else { &["silent host h1"] };
        assert_eq!(lines(&run.window()), expected, "window {window}");
    }
}

/// Three probes a window: in one of them, chance explains that none came.
#[test]
fn a_host_with_few_probes_is_named_when_it_has_missed_enough_of_them() {
    let mut run = mesh();
    run.mesh.interval_ns = WINDOW / 3;
    run.silent = vec![("h1", 4 * WINDOW, FOR_EVER)];
    let silent: Vec<bool> = (0..10)
        .map(|_| {
            let found = lines(&run.window());
            assert!(found.is_empty() || found == ["silent host h1"], "{found:?}");
            !found.is_empty()
        })
        .collect();
    let first = silent.iter().position(|silent| *silent).unwrap();
    assert!(first > 4 && silent[first..].iter().all(|silent| *silent), "{silent:?}");
}

#[test]
fn a_short_restart_and_the_end_of_the_data_are_no_silence() {
    let mut run = mesh();
    run.silent = vec![
        ("h1", 2 * WINDOW + 12 * SECOND, 3 * WINDOW + SECOND),
        // The agents end one after another.
        ("h0", 4 * WINDOW + 5 * SECOND, FOR_EVER),
        ("h1", 4 * WINDOW + 8 * SECOND, FOR_EVER),
        ("h2", 4 * WINDOW + 11 * SECOND, FOR_EVER),
        ("h3", 4 * WINDOW + 14 * SECOND, FOR_EVER),
    ];
    for window in 0..5 {
        assert_eq!(lines(&run.window()), [""; 0], "window {window}");
    }
}

#[test]
fn most_hosts_at_once_are_the_collector() {
    let mut run = mesh();
    run.silent = ["h0", "h1", "h2"].map(|host| (host, 2 * WINDOW, FOR_EVER)).to_vec();
    for window in 0..4 {
        let found = run.window();
        match window {
            0 | 1 => assert_eq!(lines(&found), [""; 0]),
            _ => {
                assert_eq!(lines(&found), ["silent collector diagnose"]);
                let sentence = &found.verdicts[0].sentence;
                assert!(
                    sentence.starts_with("diagnose: 3 hosts are silent, no probe since "),
                    "{sentence}"
                );
            }
        }
    }
}

#[test]
fn a_live_mesh_without_any_probe_is_judged_after_its_first_minute_and_forgotten_after_an_hour() {
    let all = ["h0", "h1", "h2", "h3"];
    let mut run = mesh();
    run.analyzer.set_live(Time(START));
    // Not a loss of the hosts: the collector has just started.
    run.silent = all.map(|host| (host, WINDOW, 2 * WINDOW)).to_vec();
    run.silent.extend(all.map(|host| (host, 5 * WINDOW, FOR_EVER)));
    for window in 0..5 {
        let found = run.any_window().unwrap();
        assert_eq!(found.sla.probes == 0, window == 1);
        assert_eq!(lines(&found), [""; 0], "window {window}");
    }
    for window in 0..180 {
        let found = run.any_window().unwrap();
        assert_eq!(lines(&found), ["silent collector diagnose"], "window {window}");
        assert_eq!(found.verdicts[0].window_start_ns, START + (5 + window) * WINDOW);
    }
    assert_eq!(run.any_window(), None);
}
