//! Signals, invalid arguments, privileges.

use crate::probe::agent::{Agent, reported};
use crate::probe::rails::Rails;
use rocescope_testkit::{Running, binary, until};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The error for rails, which are not RDMA devices.
const NO_VERBS: &str = "RDMA device";

#[test]
fn a_signal_ends_it_after_the_probes_in_flight() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    for signal in ["-INT", "-TERM"] {
        let agent = Agent::begin(&rails, &["--interval", "10ms"]);
        agent.until_probes(21);
        let done = agent.stop(signal);
        assert!(done.count("received") > 20, "{}", done.summary);
        // Each window has one line.
        let reported = reported(&done.said);
        assert!((21..=done.count("probes")).contains(&reported), "{}", done.said);
    }
}

#[test]
fn one_capability_suffices_and_is_dropped() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = directory.path().join("rocescope");
    fs::copy(binary(), &program).unwrap();
    let unprivileged = |capabilities: &str| {
        let mut command = rails.command("h", "setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
            command.arg(format!("{set}=-all{capabilities}"));
        }
        command.arg(&program).args(["probe", "--all"]);
        command
    };
    let out = directory.path().join("dataset");
    let mut command = unprivileged(",+net_raw");
    let agent = Running::spawn(command.arg("--out").arg(&out));
    let status = format!("/proc/{}/status", agent.id());
    until("it drops every capability", || {
        let status = fs::read_to_string(&status).unwrap();
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:\t"));
        effective == Some("0000000000000000")
    });
    agent.stop("-TERM").success();

    let output = unprivileged("").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        said.contains("cap_net_raw") && said.contains("sudo setcap cap_net_raw=ep"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    rails.ip("h", "link add bare type veth peer name bare0");
    let refused = |arguments: &[&str]| {
        let output = rails
            .command("h", binary())
            .arg("probe")
            .args(arguments)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, why) in [
        (&["-i", "rail0", "nix0"][..], "nix0: no such interface"),
        (&["-i", "rail0"], "probing requires at least two NICs"),
        (&["-i", "rail0", "rail0"], "rail0 is given more than once"),
        (&["-i", "rail0", "lo"], "lo: not an Ethernet interface"),
        (&["-i", "rail0", "bare"], "bare: no address"),
        (&["-i", "rail0", "rail1", "--interval", "0s"], "--interval"),
        (&["-i", "rail0", "rail1", "--source-ports", "0"], "--source-ports"),
        (&["-i", "rail0", "rail1", "--backend", "verbs"], NO_VERBS),
        (&["--all", "-i", "rail0"], "cannot be used with"),
        (&[], "nothing to probe between: set --interface or --all"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

/// Two agents on one host do not count each other's probes.
#[test]
fn probes_of_a_second_agent_count_as_foreign() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let options = ["--timeout", "60s", "--interval", "20ms"];
    let first = Agent::begin(&rails, &options);
    let output = rails
        .command("h", binary())
        .args(["probe", "--all", "--duration", "1s", "-o", "json"])
        .args(options)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is used by another process"), "{said}");
    let second: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(second["received"], second["probes"]);
    // It has read what the second one sent.
    first.until_more_probes(30);
    let first = first.stop("-INT");
    assert_eq!(first.count("received"), first.count("probes"));
    // All probes of the second agent, and the packets of its traces that arrived.
    let strangers = first.count("foreign_datagrams");
    assert!(strangers >= second["received"].as_u64().unwrap(), "{}", first.summary);
}
