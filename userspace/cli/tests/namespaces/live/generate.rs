//! Frames of the generator, counted by its kernel and by a capture on the other end.

use crate::live::namespace::{Namespace, RECEIVER, SENDER};
use crate::live::running::Live;
use rocescope_testkit::binary;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const SCENARIO: &str = "../generate/scenarios/demo.toml";

fn generate(namespace: &Namespace, arguments: &[&str]) -> Command {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCENARIO);
    let mut command = namespace.command(binary());
    command.arg("generate").arg(scenario);
    command.args(["--iface", SENDER, "-o", "json"]);
    command.args(arguments);
    command
}

fn sent(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_frame_too_long_for_the_interface_names_the_remedy() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip(&["link", "set", "dev", SENDER, "mtu", "1500"]);
    let output = generate(&namespace, &[]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let remedy = format!("`ip link set dev {SENDER} mtu 9000`");
    assert!(said.contains(&remedy) && said.lines().count() == 1, "{said}");
}

#[test]
fn a_capture_sees_what_the_kernel_accepted() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for arguments in [
        &["--full-speed", "--count", "100000"][..],
        &["--pps", "100000", "--duration", "300ms", "--by", "live"],
        &["--pps", "20000", "--count", "2000"],
        &["--full-speed", "--count", "20000", "--by", "packet"],
    ] {
        let before = namespace.received();
        let live = Live::begin(&namespace, &["--mode", "native", "--verdict", "drop"]);
        let sent = sent(&mut generate(&namespace, arguments));
        let accepted = sent["accepted"].as_u64().unwrap();
        namespace.until_received(before.0 + accepted);
        let (summary, _) = live.stop();
        let dropped = namespace.received().1 - before.1;
        // The other end also counts what the driver refused.
        assert_eq!(sent["dropped"].as_u64(), Some(dropped), "{arguments:?}");
        assert_eq!(summary["frames"].as_u64(), Some(accepted), "{arguments:?}");
        assert_eq!(sent["offered"].as_u64(), Some(accepted + dropped), "{arguments:?}");
        // The number of frames in a given time depends on the load of the machine.
        assert!(accepted > 0, "{arguments:?}");
    }
}

/// The scenario's own times: once, for as long as it specifies.
#[test]
fn a_scenario_is_sent_at_its_own_times() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["--mode", "native"]);
    let sent = sent(&mut generate(&namespace, &["--duration", "500ms"]));
    namespace.until_received(sent["accepted"].as_u64().unwrap());
    let (summary, _) = live.stop();
    assert_eq!(summary["frames"], sent["accepted"]);
    assert_eq!(sent["by"], "a packet socket");
    assert!(sent["seconds"].as_f64().unwrap() >= 0.5);
}

#[test]
fn a_signal_ends_the_sending_and_the_count_stays_exact() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["--mode", "native", "--verdict", "drop"]);
    let mut command = generate(&namespace, &["--full-speed"]);
    let sender = command.stdout(Stdio::piped()).spawn().unwrap();
    namespace.until_received(1);
    let pid = sender.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = sender.wait_with_output().unwrap();
    assert!(output.status.success());
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    namespace.until_received(sent["accepted"].as_u64().unwrap());
    let (summary, _) = live.stop();
    assert_eq!(summary["frames"], sent["accepted"]);
}

#[test]
fn a_driver_that_accepts_no_xdp_frames_is_reported_at_once() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    // Without GRO the other end does not request XDP frames.
    namespace
        .command("ethtool")
        .args(["-K", RECEIVER, "gro", "off"])
        .status()
        .unwrap();
    let output = generate(&namespace, &["--full-speed", "--by", "live"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("does not transmit XDP frames"), "{said}");
}
