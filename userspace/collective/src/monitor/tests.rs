use super::{Group, Monitor, Settings, Step};

fn monitor(detections: u32) -> Monitor {
    let mut monitor = Monitor::new(Settings {
        threshold_percent: 150,
        detections,
        settle_ns: 0,
    });
    monitor.begin(step(1, 10_000));
    monitor
}

fn step(number: u32, base_rtt_ns: i64) -> Step {
    Step {
        number,
        base_rtt_ns,
        expected_ns: 30_000,
    }
}

#[test]
fn the_threshold_is_that_of_the_step() {
    let mut monitor = monitor(3);
    assert!(!monitor.round_trip(0, 15_000));
    assert!(monitor.round_trip(0, 15_001));
    monitor.begin(step(2, 20_000));
    assert!(!monitor.round_trip(1, 30_000));
    assert!(monitor.round_trip(1, 30_001));
}

/// The switches still have the slow round trip in their counters then, and what came of it.
#[test]
fn a_question_waits_for_what_comes_of_the_slow_round_trip() {
    let mut monitor = Monitor::new(Settings {
        settle_ns: 1_000,
        ..Settings::default()
    });
    monitor.begin(step(1, 10_000));
    assert!(!monitor.round_trip(5_000, 15_001));
    // Whatever the round trips are meanwhile.
    assert!(!monitor.round_trip(5_999, 10_000));
    assert!(monitor.round_trip(6_000, 10_000));
    assert!(!monitor.round_trip(9_000, 99_000), "no detection is left");
    // A step that ends before passes its detection on, and the next one begins afresh.
    monitor.begin(step(2, 10_000));
    assert!(!monitor.round_trip(50_000, 99_000));
    assert_eq!(monitor.end(true), Some(1));
    monitor.begin(step(3, 10_000));
    assert!(!monitor.round_trip(60_000, 10_000));
}

#[test]
fn detections_are_spaced_and_bounded() {
    let mut monitor = monitor(3);
    let asked: std::vec::Vec<i64> = (0..100_000)
        .step_by(100)
        .filter(|now| monitor.round_trip(*now, 99_000))
        .collect();
    assert_eq!(asked, [0, 10_000, 20_000]);
}

/// Fig. 7: 0 ends and passes on to 3; 3 ends and passes all on to 2, which has most; 1 ends before 2.
#[test]
fn the_slowest_host_has_most_detections() {
    let settings = Settings {
        threshold_percent: 150,
        detections: 2,
        settle_ns: 0,
    };
    let mut group = Group::new(settings, 4);
    for host in 0..4 {
        group.begin(host, step(1, 10_000));
    }
    let deliver = |group: &mut Group, ended: usize, awaited: usize| {
        let mut notice = group.end(ended, 1, Some(awaited));
        let mut way = std::vec![ended];
        while let Some(sent) = notice {
            way.push(sent.to);
            notice = group.notified(sent);
        }
        way
    };
    assert_eq!(deliver(&mut group, 0, 3), [0, 3]);
    assert_eq!(deliver(&mut group, 3, 2), [3, 2]);
    // 1 waits for 0, which waits for 3, which waits for 2.
    assert_eq!(deliver(&mut group, 1, 0), [1, 0, 3, 2]);
    let left = (0..1_000_000)
        .step_by(100)
        .filter(|now| group.round_trip(2, *now, 99_000))
        .count();
    assert_eq!(left, 8);
}

#[test]
fn a_flow_that_is_halted_for_long_asks_once_more() {
    let mut monitor = monitor(1);
    assert!(monitor.overdue(0, 15_001));
    assert!(!monitor.overdue(1, 10_000), "its age is below the threshold");
    let asked = (20_000..200_000)
        .step_by(1_000)
        .filter(|age| monitor.overdue(*age, *age));
    assert_eq!(asked.count(), 1);
    assert!(!monitor.round_trip(200_000, 99_000), "no detection is left");
    assert!(monitor.overdue(201_000, 99_000), "another stall");
}

#[test]
fn detections_of_another_step_are_dropped() {
    let mut monitor = monitor(1);
    assert_eq!(monitor.notified(7, 5), None);
    assert!(monitor.round_trip(0, 99_000));
    assert!(!monitor.round_trip(1_000_000, 99_000));
    assert_eq!(monitor.end(true), None, "nothing is left");
}

#[test]
fn a_host_that_goes_on_at_once_passes_nothing_on() {
    let mut monitor = monitor(3);
    assert_eq!(monitor.end(false), None);
    monitor.begin(step(2, 10_000));
    assert_eq!(monitor.notified(1, 3), None);
}
