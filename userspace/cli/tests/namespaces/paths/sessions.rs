//! Servers that allow few sessions, and two runs in one dataset.

use super::devices::{Device, Prints, prepare};
use super::{discovered, json, text};
use rocescope_testkit::run_in;
use serde_json::json;
use std::fs;
use std::path::Path;

const SHELL: &str = "\
session = \"sh\"
egress = [\"port {egress}\"]
hash = { complete = true }

[ask]
ipv4 = \"sleep 0.05; echo port Ethernet2\"
";

/// Two switches, one with a channel for each command and one with shells, which allow two sessions at a time; 40 flows over
/// each. EOS answers this.
fn two_sessions(folder: &Path, eos: &'static str) -> bool {
    let server = "MaxSessions 2\n";
    let devices = [
        Device {
            server,
            ..Device::new("eos", "eos", Prints::Script(eos))
        },
        Device {
            server,
            ..Device::new("own", "shell.toml", Prints::Programs(&[]))
        },
    ];
    fs::write(folder.join("shell.toml"), SHELL).unwrap();
    prepare(folder, &devices, 40)
}

/// `paths advise` with two candidates.
const ADVICE: [&str; 10] = [
    "paths",
    "advise",
    "--topology",
    "fabric.toml",
    "--ssh-config",
    "ssh",
    "--flows",
    "flows.json",
    "--candidates",
    "2",
];

#[test]
fn no_flow_is_lost_at_servers_that_allow_two_sessions_and_two_runs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !two_sessions(folder, "sleep 0.05; echo 'Output Interface: Ethernet2'") {
        return;
    }
    for _ in 0..2 {
        let found = discovered(folder, "flows.json", &["--out", "runs"]);
        assert_eq!(found["outcomes"], json!({"complete": 80}), "{:#}", found["devices"]);
        for device in found["devices"].as_array().unwrap() {
            let failures = device["failures"].as_array().unwrap();
            let refused = failures.iter().find(|failure| failure["reason"] == "session_refused");
            assert!(refused.is_some(), "{device:#}");
        }
    }
    let found = json(&[&ADVICE[..], &["-o", "json"]].concat(), folder);
    assert_eq!((&found["flows"], &found["left_out"]), (&json!(80), &json!([])));
    let compare = ["paths", "compare", "runs", "runs", "--topology", "fabric.toml"];
    let runs = json(
        &[&compare[..], &["--run-a", "2", "--run-b", "1", "-o", "json"]].concat(),
        folder,
    );
    assert_eq!((&runs["common_flows"], &runs["moved"]), (&json!(80), &json!([])));
    assert!(
        runs["times"][0].as_str() < runs["times"][1].as_str(),
        "{}",
        runs["times"]
    );
    let shown = text(&[&compare[..], &["--run-a", "2"]].concat(), folder);
    assert!(shown.starts_with("A started at 20"), "{shown}");
    let output = run_in(&[&compare[..], &["--run-a", "3"]].concat(), folder);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("runs has 2 runs, and no run 3"), "{error}");
}

#[test]
fn what_is_left_out_of_advice_is_named_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !two_sessions(folder, "echo 'unable to compute'") {
        return;
    }
    let shown = text(&ADVICE, folder);
    assert!(shown.starts_with("Only 40 of 80 flows: "), "{shown}");
    let named = "left out: 40 flows: dead_end: eos has no way to 10.0.0.2: unable to compute\n";
    assert_eq!(shown.matches("left out: ").count(), 1, "{shown}");
    assert!(shown.contains(named), "{shown}");
}

/// The rates of `--flows` are in the table `flow_paths`: FIM by rate needs no capture.
#[test]
fn rates_of_a_list_are_stored_with_the_paths() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    if !two_sessions(folder, "echo 'Output Interface: Ethernet2'") {
        return;
    }
    let flow = |device: u8, bps| json!({"src": format!("10.0.{device}.1"), "dst": format!("10.0.{device}.2"), "src_port": 49_152, "bps": bps});
    let list = json!([flow(0, 7e9), flow(1, 1e9)]);
    fs::write(folder.join("rated.json"), list.to_string()).unwrap();
    let found = discovered(folder, "rated.json", &["--out", "rated"]);
    assert_eq!(found["paths"][0]["bps"], 7e9);
    let fim = [
        "paths",
        "fim",
        "--topology",
        "fabric.toml",
        "--paths",
        "rated",
        "-o",
        "json",
    ];
    let found = json(&fim, folder);
    // From two of four hosts: 7, 1, 0 and 0 Gbit/s.
    let up = &found["layers"][0];
    assert_eq!(
        (up["fim_percent"].as_f64(), up["bytes_fim_percent"].as_f64()),
        (Some(100.0), Some(125.0))
    );
    let report = json(&["report", "rated", "-o", "json"], folder);
    assert_eq!(report["paths"]["layers"][0]["bytes_fim_percent"].as_f64(), Some(125.0));
}
