//! An interface in a network namespace of its own, which ends with the test.

use crate::terminal::Terminal;
use std::process::Command;

/// Whether this user may make a namespace; said in one line where not.
fn may() -> bool {
    let made = Command::new("unshare").args(["-n", "true"]).status();
    if made.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "no namespace");
    eprintln!("skipped: network namespaces take root");
    false
}

/// Pings are no RoCE: frames without packets.
#[test]
fn an_interface_is_watched_until_the_user_leaves() {
    if !may() {
        return;
    }
    let line = "unshare -n bash -c 'ip link set lo up; while printf x > /dev/udp/127.0.0.1/9; do sleep 0.02; done 2>/dev/null & \
                $ROCESCOPE top -i lo --mode af-packet --connections --lateness 0s; \
                echo left-$?; kill %1'";
    let terminal = Terminal::run(80, 24, line);
    let screen = terminal.wait("live");
    assert!(screen.contains("lo  af_packet  live"), "{screen}");
    let screen = terminal.until("a window", |screen| {
        screen.contains(" frames = 0 RoCEv2 + ") && screen.contains("interface 0  socket 0")
    });
    assert!(screen.contains("lost 0  ring 0"), "{screen}");
    // There is nothing to pause: what is shown is held.
    terminal.press(&["Space"]);
    terminal.wait("FROZEN -1");
    terminal.press(&["Space"]);
    terminal.until("the latest window", |screen| !screen.contains("FROZEN"));
    terminal.press(&["3"]);
    terminal.wait("no connection yet");
    terminal.press(&["q"]);
    terminal.wait("left-0");
    terminal.is_restored();
}

#[test]
fn a_window_of_an_interface_is_printed() {
    if !may() {
        return;
    }
    let script = format!(
        "ip link set lo up; while printf x > /dev/udp/127.0.0.1/9; do sleep 0.02; done 2>/dev/null & \
         {} top -i lo --mode af-packet --lateness 0s --once -o csv --table windows; kill %1",
        env!("CARGO_BIN_EXE_rocescope")
    );
    let output = Command::new("unshare")
        .args(["-n", "bash", "-c", &script])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().count(), 2, "{printed} {:?}", output.stderr);
    assert!(printed.starts_with("observer,window_start,"), "{printed}");
}
