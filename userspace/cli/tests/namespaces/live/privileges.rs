//! Captures without capabilities, and with only the required ones.

use crate::live::namespace::{Namespace, RECEIVER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::{Running, binary};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The user ID of a user without files.
const UNPRIVILEGED: &str = "65534";

/// A copy of the binary that every user may run.
fn public() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = directory.path().join("rocescope");
    fs::copy(binary(), &program).unwrap();
    (directory, program)
}

/// The binary as an unprivileged user with exactly these capabilities and no way to gain others.
fn unprivileged(namespace: &Namespace, program: &Path, capabilities: &str) -> Command {
    let mut command = namespace.command("setpriv");
    command.args(["--reuid", UNPRIVILEGED, "--regid", UNPRIVILEGED, "--clear-groups"]);
    for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
        command.arg(format!("{set}=-all{capabilities}"));
    }
    command.arg(program).args(["capture", "-o", "json", "-i", RECEIVER]);
    command
}

#[test]
fn three_capabilities_are_enough_for_xdp_and_one_for_packet_sockets() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (_directory, program) = public();
    let path = capture("vlan100_write_bw").unwrap();
    let mut seen = Vec::new();
    for (capabilities, mode) in [
        (",+bpf,+net_admin,+net_raw", "native"),
        (",+bpf,+net_admin,+net_raw", "generic"),
        (",+net_raw", "af-packet"),
    ] {
        let mut command = unprivileged(&namespace, &program, capabilities);
        let live = Live::spawn(command.args(["--mode", mode]));
        replay(&namespace, &path);
        let (summary, said) = live.stop();
        assert_eq!(said, "", "{mode}");
        assert_ne!(summary["roce_packets"], 0, "{mode}");
        seen.push(summary["roce_packets"].clone());
    }
    assert!(seen.iter().all(|packets| *packets == seen[0]), "{seen:?}");
}

#[test]
fn missing_capabilities_are_named_with_the_command_that_grants_them() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (_directory, program) = public();
    let shown = program.display();
    for (held, mode, way, needed, missing) in [
        (
            "",
            "native",
            "XDP",
            "cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon",
            "cap_bpf, cap_net_admin, cap_net_raw",
        ),
        (
            "",
            "auto",
            "XDP",
            "cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon",
            "cap_bpf, cap_net_admin, cap_net_raw",
        ),
        (
            ",+net_admin,+net_raw",
            "native",
            "XDP",
            "cap_bpf,cap_net_admin,cap_net_raw,cap_perfmon",
            "cap_bpf",
        ),
        ("", "af-packet", "AF_PACKET", "cap_net_raw", "cap_net_raw"),
    ] {
        let output = unprivileged(&namespace, &program, held)
            .args(["--mode", mode])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            said,
            format!(
                "rocescope: {way} requires {missing}, which this process lacks; `sudo setcap {needed}=ep {shown}` grants it\n"
            )
        );
    }
}

#[test]
fn auto_reports_why_it_falls_back_to_packet_sockets() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let (_directory, program) = public();
    let mut command = unprivileged(&namespace, &program, ",+net_raw");
    let why = "XDP requires cap_bpf, cap_net_admin, which this process lacks; `sudo setcap ";
    let mut running = Running::begin(&mut command, "XDP is unavailable, falls back to packet sockets: ");
    let said = running.line();
    assert!(said.contains("capturing on in0 with af_packet"), "{said}");
    let (summary, _) = Live::of(running).stop();
    let reason = summary["live"]["xdp_refused"].as_str().unwrap();
    assert!(reason.starts_with(why), "{reason}");
    assert_eq!(summary["live"]["interfaces"][0]["mode"], "af_packet");
    // A packet socket cannot drop frames, so this does not fall back.
    let output = unprivileged(&namespace, &program, ",+net_raw")
        .args(["--verdict", "drop"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains(why));
}
