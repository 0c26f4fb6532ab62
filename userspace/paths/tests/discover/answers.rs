//! Right paths from every driver, and a reason for every fault.

use super::clos::Clos;
use super::switches::{Fault, Switches};
use super::{SMALL, assert_right, outcomes};
use rocescope_paths::discover::{Plan, Settings, discover};
use rocescope_paths::transport::SESSION_REFUSED;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// One question after the other.
pub(crate) const ONE_BY_ONE: Settings = Settings {
    threads: 1,
    sessions: 1,
    open_sessions: 512,
    limit: Duration::from_secs(10),
    max_hops: 16,
    assume_5_tuple: false,
};

#[test]
fn every_driver_finds_the_right_paths_over_both_protocols() {
    for driver in ["linux", "eos", "sonic", "nxos", "junos"] {
        for ipv6 in [false, true] {
            let clos = Clos { ipv6, driver, ..SMALL };
            let plan = clos.plan();
            for settings in [ONE_BY_ONE, Settings::default()] {
                let run = discover(&plan, &clos.flows(64), &Switches::new(&clos), &settings);
                assert_right(&clos, &plan, &run);
            }
        }
    }
}

#[test]
fn cumulus_answers_with_its_own_names() {
    let clos = Clos {
        driver: "cumulus",
        ..SMALL
    };
    let run = discover(
        &clos.plan_of_cumulus(),
        &clos.flows(64),
        &Switches::new(&clos),
        &Settings::default(),
    );
    assert_eq!(outcomes(&run), HashMap::from([("complete", 64)]));
}

#[test]
fn faults_are_outcomes_with_a_reason() {
    let plan = SMALL.plan();
    let flows = SMALL.flows(64);
    let run = |switch: &str, fault: Fault| {
        let mut switches = Switches::new(&SMALL);
        switches.faults.insert(switch.into(), fault);
        let settings = Settings {
            limit: Duration::from_millis(50),
            ..Settings::default()
        };
        let started = Instant::now();
        let run = discover(&plan, &flows, &switches, &settings);
        assert!(started.elapsed() < Duration::from_secs(5));
        run
    };
    // Sessions that are cut are opened again.
    let cut = run("leaf1", Fault::Cuts);
    assert_eq!(outcomes(&cut), HashMap::from([("complete", 64)]));
    let leaf = plan.fabric.find("leaf1").unwrap();
    assert!(cut.devices[&leaf].failures["session_over"].0 > 0);
    // A device that refuses is asked once, and every flow over it has that reason.
    let refused = run("leaf1", Fault::Refuses);
    let found = outcomes(&refused);
    assert_eq!(found["login_refused"] + found["complete"], 64);
    assert_eq!(
        refused.devices[&leaf].failures["login_refused"].1,
        "Permission denied (publickey)."
    );
    let mut switches = Switches::new(&SMALL);
    switches.faults.insert("leaf1".into(), Fault::Refuses);
    let sequential = discover(&plan, &flows, &switches, &ONE_BY_ONE);
    assert_eq!(sequential.devices[&leaf].sessions, 1);
    // One that does not answer.
    assert_eq!(
        outcomes(&run("leaf1", Fault::Sticks))["time_limit"],
        found["login_refused"]
    );
    // Wrong answers.
    let loops = run("spine1", Fault::Wrong("Output Interface: Ethernet1"));
    assert!(
        outcomes(&loops)
            .keys()
            .all(|reason| ["complete", "loop"].contains(reason)),
        "{:?}",
        outcomes(&loops)
    );
    assert!(outcomes(&loops).contains_key("loop"));
    for (text, reason) in [
        ("Output Interface: Ethernet77", "contradiction"),
        ("Output Interface: Ethernet102", "wrong_host"),
        ("unable to determine", "dead_end"),
        ("% Invalid input at '^' marker.", "unreadable_answer"),
    ] {
        let run = run("leaf1", Fault::Wrong(text));
        let found = outcomes(&run);
        assert!(found.contains_key(reason), "{text}: {found:?}");
        assert!(
            found.keys().all(|found| ["complete", reason].contains(found)),
            "{text}: {found:?}"
        );
    }
}

/// Each command may take the whole limit: after two in a row it is given up, and not after one.
#[test]
fn a_device_that_hangs_costs_its_limit_twice() {
    let plan = SMALL.plan();
    let leaf = plan.fabric.find("leaf1").unwrap();
    let run = |settings: Settings, questions| {
        let mut switches = Switches::new(&SMALL);
        switches.faults.insert("leaf1".into(), Fault::Hangs(questions));
        let settings = Settings {
            limit: Duration::from_millis(50),
            ..settings
        };
        discover(&plan, &SMALL.flows(64), &switches, &settings)
    };
    let hung = run(ONE_BY_ONE, usize::MAX);
    // What it hashes, and two questions.
    assert_eq!(hung.devices[&leaf].commands, 3);
    let found = outcomes(&hung);
    assert!(found["time_limit"] > 16 && found["complete"] > 16, "{found:?}");
    let last = hung
        .traces
        .iter()
        .rfind(|trace| trace.outcome.reason == "time_limit")
        .unwrap();
    assert!(last.outcome.detail.contains("not asked again"), "{last:?}");
    let parallel = run(Settings::default(), usize::MAX);
    // One question for each session, and one of the first that was free.
    assert!(parallel.devices[&leaf].commands <= 12, "{:?}", parallel.devices[&leaf]);
    assert_eq!(outcomes(&parallel), found);
    let slow = outcomes(&run(ONE_BY_ONE, 1));
    assert_eq!((slow["time_limit"], slow["complete"]), (1, 63));
}

#[test]
fn a_device_that_refuses_sessions_is_asked_over_fewer() {
    let plan = SMALL.plan();
    let run = |most, settings: &Settings| {
        let mut switches = Switches::new(&SMALL);
        switches.delay = Duration::from_millis(5);
        for leaf in 0..4 {
            switches.faults.insert(format!("leaf{leaf}"), Fault::Crowded(most));
        }
        discover(&plan, &SMALL.flows(64), &switches, settings)
    };
    let leaf = plan.fabric.find("leaf1").unwrap();
    for most in [1, 3] {
        let run = run(most, &Settings::default());
        assert_right(&SMALL, &plan, &run);
        assert!(run.devices[&leaf].failures[SESSION_REFUSED].0 > 0);
        assert!((1..=most as u64).contains(&run.devices[&leaf].sessions));
    }
    // One that allows none is given up, with its reason.
    for settings in [Settings::default(), ONE_BY_ONE] {
        let run = run(0, &settings);
        assert_eq!(outcomes(&run), HashMap::from([(SESSION_REFUSED, 64)]));
        assert!(run.took < Duration::from_secs(10), "{:?}", run.took);
    }
}

#[test]
fn names_of_ports_cannot_run_commands() {
    let mut topology = SMALL.topology();
    for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
        if end.node == "spine0" {
            end.port = format!("{};reboot", end.port);
        }
    }
    let plan = Plan {
        fabric: topology.fabric(),
        ..SMALL.plan()
    };
    let run = discover(&plan, &SMALL.flows(64), &Switches::new(&SMALL), &Settings::default());
    let found = outcomes(&run);
    assert!(found["port_name"] > 0, "{found:?}");
}
