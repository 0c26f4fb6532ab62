//! No capabilities, and only those that it takes.

use crate::live::{BINARY, Live};
use crate::namespace::{Namespace, RECEIVER};

/// The binary as root, whose capabilities are bounded to these.
fn bounded(namespace: &Namespace, capabilities: &str) -> std::process::Command {
    let mut command = namespace.command("setpriv");
    command.arg("--inh-caps=-all");
    command.arg(format!("--bounding-set=-all{capabilities}"));
    command.args([BINARY, "capture", "-o", "json", "-i", RECEIVER]);
    command
}

#[test]
fn four_capabilities_are_enough_for_xdp_and_one_for_packet_sockets() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for (capabilities, mode) in [
        (",+bpf,+perfmon,+net_admin,+net_raw", "native"),
        (",+bpf,+perfmon,+net_admin,+net_raw", "generic"),
        (",+net_raw", "af-packet"),
    ] {
        let mut command = bounded(&namespace, capabilities);
        command.args(["--mode", mode, "--duration", "300ms"]);
        let (summary, said) = Live::spawn(&mut command).end();
        assert_eq!((&summary["frames"], said.as_str()), (&0.into(), ""));
    }
}

#[test]
fn what_is_missing_is_named_with_the_command_that_grants_it() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for (mode, way, missing) in [
        (
            "native",
            "XDP",
            "cap_bpf,cap_perfmon,cap_net_admin,cap_net_raw",
        ),
        (
            "auto",
            "XDP",
            "cap_bpf,cap_perfmon,cap_net_admin,cap_net_raw",
        ),
        ("af-packet", "AF_PACKET", "cap_net_raw"),
    ] {
        let output = bounded(&namespace, "")
            .args(["--mode", mode])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let names = missing.replace(',', ", ");
        assert_eq!(
            said,
            format!(
                "rocescope: {way} takes {names}, which this process does not have; `sudo setcap {missing}=ep {BINARY}` grants it\n"
            )
        );
    }
}
