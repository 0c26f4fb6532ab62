//! A cold start: the fabric comes up after the agent, and one of its ports stays down.

use crate::probe::agent::sender;
use crate::probe::rails::Rails;
use rocescope_model::{ProbeRow, SlaRow, VerdictRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, make_as_documented};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// The fault of 2026-11-22: probes that waited for their next hop were called loss, and the peers of the port that was
/// down were blamed with it.
#[test]
fn only_the_port_that_is_down_gets_a_verdict() {
    let Some(rails) = Rails::bridged() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    make_as_documented(directory, &[("collector", "IP:127.0.0.1"), ("h0", "DNS:h0")]);
    let at = |name: &str| directory.join(name);
    // Windows of 4 s: the fabric comes up in less than one.
    let mut collector = rails.command("h", binary());
    collector
        .env("COLLECT_TIME_SCALE", "5")
        .args([
            "collector",
            "run",
            "--listen",
            "127.0.0.1:4792",
            "--diagnose",
            "--lateness",
            "3s",
        ])
        .args([Path::new("--out"), &at("collected")])
        .args([Path::new("--cert"), &at("collector.pem")])
        .args([Path::new("--key"), &at("collector.key")])
        .args([Path::new("--client-ca"), &at("ca.pem")]);
    let collector = Running::begin(&mut collector, "collecting at ");

    let mut agent = sender(&rails, directory, "127.0.0.1", "interval = \"20ms\"");
    let agent = Running::begin(&mut agent, "rail0: the next hop to rail1");
    sleep(Duration::from_secs(1));
    rails.ip("r0", "link set p0 up");
    rails.ip("r0", "link set p1 up");
    sleep(Duration::from_secs(13));
    agent.stop("-TERM").success();
    sleep(Duration::from_secs(4));
    let said = collector.stop("-TERM").success().stderr;

    repair(&at("collected")).unwrap();
    let found = scan(&at("collected")).unwrap();
    let probes = found.rows::<ProbeRow>().unwrap();
    for row in &probes {
        let (outcome, reason) = (&*row.outcome, row.unsent_reason.as_deref());
        assert_eq!(reason.is_some(), outcome == "unsent", "{row:?}");
        let is_dark = [&*row.src_nic, &*row.dst_nic].contains(&"rail2");
        assert!(
            !is_dark || (outcome, reason) == ("unsent", Some("no_next_hop")),
            "{row:?}"
        );
    }
    assert!(probes.iter().filter(|row| &*row.outcome == "received").count() > 500);
    let sla = found.rows::<SlaRow>().unwrap();
    assert!(sla.len() >= 3, "{sla:?}");
    assert_eq!(sla.iter().map(|row| row.timeouts + row.corrupt).sum::<u64>(), 0);
    let mut verdicts = found.rows::<VerdictRow>().unwrap();
    // Delays between namespaces follow the load of the machine.
    verdicts.retain(|row| !["latency", "asymmetry", "delay"].contains(&&*row.symptom));
    assert!(verdicts.len() >= 2, "{said}");
    for verdict in &verdicts {
        let what = (&*verdict.class, &*verdict.symptom, &*verdict.place);
        assert_eq!(what, ("link_down", "unsent", "h0/rail2"), "{said}");
    }
    assert!(said.contains("link_down: h0/rail2: "), "{said}");
    assert!(!said.contains("lost") && !said.contains("ECMP"), "{said}");
}
