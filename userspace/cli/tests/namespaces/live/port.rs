//! `doctor`, counters of the port, VLAN tags and offloads.

use crate::live::namespace::{Namespace, RECEIVER, SENDER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::{binary, until};
use serde_json::Value;
use std::process::Output;

fn doctor(namespace: &Namespace, arguments: &[&str]) -> (Output, Value) {
    let mut command = namespace.command(binary());
    command.args(["doctor", "-o", "json", "-i", RECEIVER]);
    let output = command.args(arguments).output().unwrap();
    let said = serde_json::from_slice(&output.stdout).unwrap();
    (output, said)
}

/// Level and remedy of the finding about a topic.
fn finding(said: &Value, topic: &str) -> (String, Option<String>) {
    let found = said["findings"].as_array().unwrap().iter();
    let mut found = found.filter(|finding| finding["topic"] == topic);
    let finding = found.next().unwrap_or_else(|| panic!("{topic}: {said}"));
    (
        finding["level"].as_str().unwrap().into(),
        finding["remedy"].as_str().map(str::to_owned),
    )
}

#[test]
fn the_doctor_reports_problems_and_remedies() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (output, said) = doctor(&namespace, &["--try"]);
    assert!(output.status.success(), "{said}");
    for topic in ["kernel", "link", "mtu", "xdp native", "xdp generic", "driver"] {
        assert_eq!(finding(&said, topic).0, "ok", "{topic}");
    }
    assert_eq!(namespace.receiver()["xdp"], Value::Null);

    namespace.ip(&["link", "set", "dev", RECEIVER, "mtu", "1500"]);
    namespace.ip(&["link", "set", "dev", RECEIVER, "down"]);
    let (output, said) = doctor(&namespace, &[]);
    assert!(!output.status.success(), "{said}");
    assert_eq!(said["verdict"], "fail");
    let up = format!("ip link set dev {RECEIVER} up");
    assert_eq!(finding(&said, "link"), ("fail".into(), Some(up)));
    let mtu = format!("ip link set dev {RECEIVER} mtu 9000");
    assert_eq!(finding(&said, "mtu"), ("warn".into(), Some(mtu)));
}

/// Advice for a mirror port, such as another MTU, would cut off the users of a management port.
#[test]
fn the_doctor_gives_no_advice_for_ports_in_use() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for interface in [SENDER, RECEIVER] {
        namespace.ip(&["link", "set", "dev", interface, "mtu", "1500"]);
    }
    namespace.ip(&["address", "add", "192.0.2.1/24", "dev", RECEIVER]);
    let mut command = namespace.command(binary());
    let output = command.args(["doctor", "-o", "json"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |interface: &str| -> Vec<(String, bool)> {
        let found = said["findings"].as_array().unwrap().iter();
        let found = found.filter(|finding| finding["interface"] == interface);
        found
            .map(|finding| (finding["topic"].as_str().unwrap().into(), !finding["remedy"].is_null()))
            .collect()
    };
    assert_eq!(of(RECEIVER), [("use".to_owned(), false)]);
    assert!(of(SENDER).contains(&("mtu".to_owned(), true)), "{said}");
    // A port that the user names is meant.
    assert_eq!(finding(&doctor(&namespace, &[]).1, "mtu").0, "warn");
}

/// `setcap` replaces what an earlier one granted: there is one command, which grants everything.
#[test]
fn the_doctor_grants_capabilities_with_one_command() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let mut command = namespace.command("setpriv");
    command.args(["--bounding-set=-all", "--inh-caps=-all", binary()]);
    let output = command.args(["doctor", "-o", "json", "-i", RECEIVER]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = said["findings"].as_array().unwrap().iter();
    let commands = findings.filter_map(|finding| finding["remedy"].as_str());
    let commands: Vec<&str> = commands.filter(|command| command.contains("setcap")).collect();
    let [command] = commands[..] else {
        panic!("{commands:?}");
    };
    assert!(
        command.contains("cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon=ep"),
        "{command}"
    );
}

#[test]
fn the_doctor_leaves_a_foreign_program_attached() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["--mode", "native"]);
    let attached = namespace.receiver()["xdp"].clone();
    let (_, said) = doctor(&namespace, &["--try"]);
    assert_eq!(finding(&said, "xdp native").0, "fail");
    assert_eq!(namespace.receiver()["xdp"], attached);
    live.stop();
}

#[test]
fn a_capture_survives_a_renamed_interface() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for mode in ["native", "af-packet"] {
        let mut live = Live::begin(&namespace, &["--mode", mode]);
        namespace.ip(&["link", "set", "dev", RECEIVER, "down"]);
        live.line();
        namespace.ip(&["link", "set", "dev", RECEIVER, "name", "in1"]);
        assert_eq!(
            live.line(),
            format!("{RECEIVER} was renamed to in1: its capture continues\n")
        );
        namespace.ip(&["link", "set", "dev", "in1", "name", RECEIVER, "up"]);
        live.line();
        live.stop();
    }
}

#[test]
fn sixty_four_queues_are_one_capture() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip(&["link", "del", SENDER]);
    let queues = ["numrxqueues", "64", "numtxqueues", "64"];
    let mut link = vec!["link", "add", SENDER];
    link.extend(queues);
    link.extend(["type", "veth", "peer", "name", RECEIVER]);
    link.extend(queues);
    namespace.ip(&link);
    for interface in [SENDER, RECEIVER] {
        let quiet = format!("net.ipv6.conf.{interface}.disable_ipv6=1");
        let mut sysctl = namespace.command("sysctl");
        assert!(sysctl.args(["-qw", &quiet]).status().unwrap().success());
        namespace.ip(&["link", "set", "dev", interface, "mtu", "9000", "up"]);
    }
    let live = Live::begin(&namespace, &["--mode", "native"]);
    let path = capture("vlan100_write_bw").unwrap();
    replay(&namespace, &path);
    let (summary, _) = live.stop();
    assert!(summary["frames"].as_u64().unwrap() > 100);
    assert_eq!(summary["lost"], 0);
}

/// Frames that the interface itself dropped: its ring was full.
#[test]
fn interface_drops_are_part_of_the_identity() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["--mode", "native"]);
    // The sender queues more at once than the ring holds, on another CPU than the reader.
    let mut sender = namespace.command(binary());
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/demo.toml");
    sender.args(["generate", scenario, "--iface", SENDER, "-o", "json"]);
    sender.args(["--full-speed", "--count", "300000"]);
    let sent: Value = serde_json::from_slice(&sender.output().unwrap().stdout).unwrap();
    namespace.until_received(sent["accepted"].as_u64().unwrap());
    let (summary, _) = live.stop();
    let seen = summary["frames"].as_u64().unwrap();
    let dropped = summary["live"]["interface_dropped"].as_u64().unwrap();
    assert_eq!(seen + dropped, sent["offered"].as_u64().unwrap(), "{sent}");
}

/// Frames that no protocol of the kernel takes: it counts them as dropped by the interface, after XDP has seen them.
#[test]
fn frames_without_a_protocol_are_no_capture_loss() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.pcap");
    let mut pcap = Vec::new();
    for word in [0xa1b2_3c4du32, 2 | 4 << 16, 0, 0, 65_535, 1] {
        pcap.extend(word.to_le_bytes());
    }
    // LLDP, LACP, RoCE v1, the timestamps of Arista, and an unhandled type in a VLAN.
    let types: [&[u8]; 5] = [
        &[0x88, 0xcc],
        &[0x88, 0x09],
        &[0x89, 0x15],
        &[0xd2, 0x8b],
        &[0x81, 0, 0, 7, 0x89, 0x15],
    ];
    const EACH: usize = 20;
    for frame in 0..types.len() * EACH {
        let bytes = [&[2; 12], types[frame % types.len()], &[0; 60]].concat();
        for word in [frame as u32, 0, bytes.len() as u32, bytes.len() as u32] {
            pcap.extend(word.to_le_bytes());
        }
        pcap.extend(bytes);
    }
    std::fs::write(&path, pcap).unwrap();
    let kernel_drops = || namespace.receiver()["stats64"]["rx"]["dropped"].as_u64().unwrap();
    for mode in ["native", "generic"] {
        let before = kernel_drops();
        let live = Live::begin(&namespace, &["--mode", mode, "--verdict", "pass"]);
        replay(&namespace, &path);
        let (summary, _) = live.stop();
        assert!(
            kernel_drops() >= before + 4 * EACH as u64,
            "{mode}: the kernel counts none"
        );
        assert_eq!(summary["frames"], types.len() * EACH, "{mode}");
        assert_eq!(summary["live"]["interface_dropped"], 0, "{mode}");
        assert_eq!(summary["capture_lost_frames"], 0, "{mode}");
    }
}

fn strips(namespace: &Namespace) -> bool {
    let mut ethtool = namespace.command("ethtool");
    let output = ethtool.args(["-k", RECEIVER]).output().unwrap();
    let features = String::from_utf8(output.stdout).unwrap();
    features.contains("rx-vlan-offload: on")
}

/// Also after `kill -9`, when no code of the capture can run.
#[test]
fn tags_stay_in_frames_while_a_capture_runs() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    assert!(strips(&namespace));
    for killed in [false, true] {
        let arguments = ["--mode", "native", "--vlan-offload", "off"];
        let live = Live::begin(&namespace, &arguments);
        assert!(!strips(&namespace));
        if killed {
            live.kill();
        } else {
            live.stop();
        }
        until("tags are stripped again", || strips(&namespace));
    }
}
