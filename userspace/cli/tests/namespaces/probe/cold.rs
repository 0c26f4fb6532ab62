//! A cold start: the fabric comes up after the agent, and one of its ports stays down.

use crate::probe::agent::{reported, sender};
use crate::probe::rails::Rails;
use rocescope_model::{ProbeRow, SlaRow, VerdictRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, make_as_documented, until};
use std::path::Path;

/// When a probe passed between the two ports that come up, first in one direction and then in the other.
fn up_ns(probes: &[ProbeRow]) -> Option<i64> {
    let first = |src: &str| {
        let passed = |row: &&ProbeRow| &*row.src_nic == src && &*row.outcome == "received";
        probes.iter().filter(passed).map(|row| row.time_ns).min()
    };
    Some(first("rail0")?.max(first("rail1")?))
}

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
            "--segment-age",
            "1s",
        ])
        .args([Path::new("--out"), &at("collected")])
        .args([Path::new("--cert"), &at("collector.pem")])
        .args([Path::new("--key"), &at("collector.key")])
        .args([Path::new("--client-ca"), &at("ca.pem")]);
    let collector = Running::begin(&mut collector, "collecting at ");

    let mut agent = sender(
        &rails,
        directory,
        "127.0.0.1",
        "interval = \"20ms\"\ntimeout = \"60s\"\npaths-rate = 0",
    );
    let agent = Running::begin(&mut agent, "rail0: the next hop to rail1");
    // Probes wait for their next hops, and are reported.
    until("a window", || reported(&agent.messages()) > 0);
    rails.ip("r0", "link set p0 up");
    rails.ip("r0", "link set p1 up");
    until("three windows and two verdicts after the fabric is up", || {
        let Ok(found) = scan(&at("collected")) else {
            return false;
        };
        let windows: Vec<SlaRow> = found.rows().unwrap();
        let up_ns = up_ns(&found.rows().unwrap());
        let since = |row: &VerdictRow| up_ns.is_some_and(|up_ns| row.window_start_ns >= up_ns);
        let verdicts: Vec<VerdictRow> = found.rows().unwrap();
        windows.len() >= 3 && verdicts.iter().filter(|row| since(row)).count() >= 2
    });
    agent.stop("-TERM").success();
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
    let up_ns = up_ns(&probes).unwrap();
    let sla = found.rows::<SlaRow>().unwrap();
    assert_eq!(sla.iter().map(|row| row.timeouts + row.corrupt).sum::<u64>(), 0);
    let mut verdicts = found.rows::<VerdictRow>().unwrap();
    // Delays between namespaces follow the load of the machine, and so does whether the agent sends at all.
    verdicts.retain(|row| !["latency", "asymmetry", "delay", "silence"].contains(&&*row.symptom));
    // The other two ports are down in windows that end before the fabric is up.
    verdicts.retain(|row| row.window_start_ns + row.window_ns > up_ns);
    assert!(verdicts.len() >= 2, "{said}");
    for verdict in &verdicts {
        let what = (&*verdict.class, &*verdict.symptom, &*verdict.place);
        assert_eq!(what, ("link_down", "unsent", "h0/rail2"), "{said}");
    }
    assert!(said.contains("link_down: h0/rail2: "), "{said}");
    assert!(!said.contains("lost") && !said.contains("ECMP"), "{said}");
}
