//! A capture that stops while runs arrive: reported, counted, and over when it resumes.

use crate::live::namespace::{Namespace, SENDER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::binary;
use serde_json::Value;

/// Sends generated frames as fast as the interface accepts them.
fn send(namespace: &Namespace, count: &str) {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/demo.toml");
    let mut sender = namespace.command(binary());
    sender.args(["generate", scenario, "--iface", SENDER, "-o", "json"]);
    let output = sender.args(["--full-speed", "--count", count]).output();
    assert!(output.unwrap().status.success());
}

#[test]
fn a_full_ring_is_reported_once_per_cpu_and_counted() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let arguments = ["-q", "--mode", "native", "--ring-bytes", "64Ki"];
    let mut live = Live::begin(&namespace, &arguments);
    live.signal("-STOP");
    send(&namespace, "100000");
    live.signal("-CONT");
    let warning = live.line();
    assert!(
        warning.starts_with("warning: the ring of CPU ") && warning.contains(" is full: "),
        "{warning}"
    );
    // Later frames are complete again.
    replay(&namespace, &capture("vlan100_write_bw").unwrap());
    let (summary, said) = live.stop();
    assert!(said.lines().all(|line| line.starts_with("warning: ")));
    let mut reported: Vec<&str> = vec![warning.trim_end()];
    reported.extend(said.lines());
    let warnings = summary["live"]["warnings"].as_array().unwrap().iter();
    let warnings: Vec<String> = warnings
        .map(|warning| format!("warning: {}", warning.as_str().unwrap()))
        .collect();
    assert_eq!(warnings, reported);
    let lost = &summary["live"];
    assert!(lost["lost_runs"].as_u64().unwrap() > 0, "{lost}");
    assert!(lost["blind_intervals"].as_u64().unwrap() > 0, "{lost}");
    // The summary shows whether the identity holds; otherwise the command fails.
    assert_ne!(summary["lost"], Value::from(0));
}
