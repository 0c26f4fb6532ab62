//! Host keys and logins that fail.

use super::super::discover;
use super::run;
use rocescope_testkit::run_in;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A host key that changed, one that is unknown, a key that is not accepted: one reason a device, and no hanging.
pub(super) fn each_has_one_reason(folder: &Path) {
    let known = fs::read_to_string(folder.join("known")).unwrap();
    let run_again = |more: &[&str]| {
        let output = run_in(&discover("few.json", more), folder);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{found:#}");
        found
    };
    let outcome = |more: &[&str]| {
        let found = run_again(more);
        let outcomes = found["outcomes"].as_object().unwrap().clone();
        outcomes.keys().cloned().collect::<Vec<String>>().join(" ")
    };
    assert!(run(
        "ssh-keygen",
        &[
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-f",
            folder.join("other").to_str().unwrap()
        ]
    ));
    let other = fs::read_to_string(folder.join("other.pub")).unwrap();
    let hosts = known.split(' ').next().unwrap();
    fs::write(folder.join("known"), format!("{hosts} {other}")).unwrap();
    assert_eq!(outcome(&[]), "host_key_changed");
    fs::write(folder.join("known"), "").unwrap();
    assert_eq!(outcome(&[]), "host_key_unknown");
    fs::write(folder.join("known"), known).unwrap();
    let client = fs::read_to_string(folder.join("ssh")).unwrap();
    let client = client.replace("/user\n", "/other\n");
    fs::write(folder.join("ssh"), &client).unwrap();
    assert_eq!(outcome(&[]), "login_refused");
    fs::write(folder.join("password"), "wrong\n").unwrap();
    assert_eq!(outcome(&["--password-file", "password"]), "login_refused");
    let silent: Vec<&str> = client.lines().filter(|line| !line.contains("ProxyCommand")).collect();
    fs::write(
        folder.join("ssh"),
        format!("{}\n  ProxyCommand sleep 60\n", silent.join("\n")),
    )
    .unwrap();
    let found = run_again(&["--connect-limit", "1s"]);
    assert_eq!(found["outcomes"]["unreachable"], found["flows"], "{found:#}");
    // Flows that wait for the same device wait once.
    for device in found["devices"].as_array().unwrap() {
        let failures = device["failures"].as_array().unwrap().iter();
        let waits: u64 = failures.map(|failure| failure["count"].as_u64().unwrap()).sum();
        assert_eq!(waits, 1, "{device:#}");
    }
}
