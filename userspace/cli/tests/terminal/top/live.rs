//! An interface in a network namespace of its own, which ends with the test.

use crate::top::terminal::Terminal;
use rocescope_testkit::binary;
use std::process::Command;

/// Whether this user may create a namespace; prints one line if not.
fn may_create_a_namespace() -> bool {
    let made = Command::new("unshare").args(["-n", "true"]).status();
    if made.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "no namespace");
    eprintln!("skipped: network namespaces take root");
    false
}

/// Pings are not RoCE: frames without packets.
#[test]
fn an_interface_is_watched_until_the_user_leaves() {
    if !may_create_a_namespace() {
        return;
    }
    let line = "unshare -n bash -c 'ip link set lo up; while printf x > /dev/udp/127.0.0.1/9; do sleep 0.02; done 2>/dev/null & \
                $ROCESCOPE top -i lo --mode af-packet --lateness 0s; \
                echo left-$?; kill %1'";
    let terminal = Terminal::run(80, 24, line);
    let screen = terminal.wait("live");
    assert!(screen.contains("lo  af_packet  live"), "{screen}");
    let screen = terminal.until("a window", |screen| {
        screen.contains(" frames = 0 RoCEv2 + ") && screen.contains("capture loss 0")
    });
    assert!(screen.contains("fabric loss 0  capture loss 0"), "{screen}");
    // A live view cannot pause: the view holds a window.
    terminal.press(&["Space"]);
    terminal.wait("FROZEN -1");
    terminal.press(&["Space"]);
    terminal.until("the latest window", |screen| !screen.contains("FROZEN"));
    terminal.press(&["3"]);
    terminal.wait("no connections yet");
    terminal.press(&["q"]);
    terminal.wait("left-0");
    terminal.is_restored();
}

/// The filter of the configuration file changes while the view runs, whatever captures the frames; with XDP the kernel
/// applies it.
#[test]
fn the_configuration_is_reloaded() {
    if !may_create_a_namespace() {
        return;
    }
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../generate/scenarios/fudan-5.2-3.toml");
    // Events of connections stay on the screen after the filter has changed.
    for (mode, name) in [
        ("native", "xdp native"),
        ("generic", "xdp generic"),
        ("af-packet", "af_packet"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let configured = |text: &str| std::fs::write(at("it.toml"), text).unwrap();
        configured("[top]\nfilter = \"net 192.168.2.0/24\"\n");
        let script = format!(
            "ip link add out0 type veth peer name in0; ip link set out0 up; ip link set in0 up; \
             $ROCESCOPE generate {scenario} --iface out0 --pps 2000 --by packet >/dev/null 2>&1 & \
             sh -c 'echo $$ > {}; exec $ROCESCOPE top -i in0 --mode {mode} --no-connections --lateness 0s --config {}'; \
             kill %1",
            at("pid").display(),
            at("it.toml").display()
        );
        std::fs::write(at("run.sh"), script).unwrap();
        let line = format!("unshare -n bash {}; echo left-$?", at("run.sh").display());
        let terminal = Terminal::run(120, 40, &line);
        terminal.until("flows", |screen| {
            screen.contains(&format!("in0  {name}  live")) && screen.contains("192.168.2.20")
        });
        let pid = std::fs::read_to_string(at("pid")).unwrap();
        let reload = || {
            let sent = Command::new("kill").args(["-HUP", pid.trim()]).status();
            assert!(sent.unwrap().success());
        };
        configured("[top]\nfilter = \"nett\"\n");
        reload();
        terminal.wait("configuration not reloaded");
        assert!(terminal.screen().contains("192.168.2.20"));
        configured("[top]\nfilter = \"net 10.0.0.0/8\"\n");
        reload();
        // Everything is filtered now, and no window has a flow.
        terminal.until("no flow", |screen| {
            screen.contains(" = 0 RoCEv2 + ") && !screen.contains("192.168.2.20")
        });
        terminal.press(&["q"]);
        terminal.wait("left-0");
    }
}

#[test]
fn a_window_of_an_interface_is_printed() {
    if !may_create_a_namespace() {
        return;
    }
    let script = format!(
        "ip link set lo up; while printf x > /dev/udp/127.0.0.1/9; do sleep 0.02; done 2>/dev/null & \
         {} top -i lo --mode af-packet --lateness 0s --once -o csv --table windows; kill %1",
        binary()
    );
    let output = Command::new("unshare")
        .args(["-n", "bash", "-c", &script])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().count(), 2, "{printed} {:?}", output.stderr);
    assert!(printed.starts_with("observer,window_start,"), "{printed}");
}
