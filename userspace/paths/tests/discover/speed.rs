//! How long runs take.

use super::clos::Clos;
use super::switches::Switches;
use super::{SMALL, assert_right, outcomes};
use rocescope_paths::Flow;
use rocescope_paths::discover::{Settings, discover};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The paper: tens of seconds, and 8 threads 2.6 times as fast as 2.
#[test]
fn parallel_sessions_hide_the_delay_of_commands() {
    let clos = Clos { hosts: 8, ..SMALL };
    let (plan, flows) = (clos.plan(), clos.flows(128));
    let took = |threads, flows: &[Flow]| {
        let switches = Switches {
            delay: Duration::from_millis(50),
            ..Switches::new(&clos)
        };
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let run = discover(&plan, flows, &switches, &settings);
        assert_right(&clos, &plan, &run);
        run.took
    };
    let all = took(64, &flows);
    let (two, eight) = (took(2, &flows[..32]), took(8, &flows[..32]));
    let one = took(1, &flows[..16]);
    println!(
        "128 flows, 64 threads: {all:?}; 32 flows: 2 threads {two:?}, 8 threads {eight:?}; 16 flows one by one {one:?}"
    );
    assert!(all < Duration::from_secs(1), "{all:?}");
    assert!(two.as_secs_f64() > 2.6 * eight.as_secs_f64(), "{two:?} {eight:?}");
    assert!(one > Duration::from_millis(16 * 3 * 50));
}

/// The most memory that this process has had resident since the last call, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    // Resets the peak.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    kib / 1_024
}

#[test]
fn a_hundred_thousand_flows_over_a_thousand_switches_take_linear_time_and_bounded_memory() {
    let clos = Clos {
        leaves: 984,
        spines: 16,
        hosts: 4,
        ..SMALL
    };
    let (plan, flows) = (clos.plan(), clos.flows(100_000));
    let took = |count: usize| {
        let switches = Switches::new(&clos);
        let settings = Settings {
            threads: 4,
            open_sessions: 64,
            ..Settings::default()
        };
        let run = discover(&plan, &flows[..count], &switches, &settings);
        assert_eq!(outcomes(&run), HashMap::from([("complete", count)]));
        assert!(switches.open[1].load(Ordering::Relaxed) <= 64);
        (run.took.as_secs_f64(), peak_mib())
    };
    let before = peak_mib();
    let ((small, small_mib), (large, large_mib)) = (took(10_000), took(100_000));
    println!(
        "before the runs {before} MiB; 10,000 flows {small:.2} s, {small_mib} MiB; 100,000 flows {large:.2} s, {large_mib} MiB"
    );
    assert!(large < small * 20.0, "{small} {large}");
    assert!(large_mib < 512, "{large_mib}");
}
