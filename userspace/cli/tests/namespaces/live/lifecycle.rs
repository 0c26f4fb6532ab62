//! Signals, `kill -9`, interfaces that vanish, XDP programs of others.

use crate::live::namespace::{Namespace, RECEIVER, SENDER};
use crate::live::replay::replay;
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_testkit::binary;
use serde_json::Value;
use std::process::Command;

fn is_untouched(namespace: &Namespace) -> bool {
    let receiver = namespace.receiver();
    receiver["xdp"] == Value::Null && receiver["promiscuity"] == 0
}

#[test]
fn a_killed_capture_leaves_nothing() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for mode in ["native", "generic", "af-packet"] {
        let live = Live::begin(&namespace, &["--mode", mode]);
        assert!(!is_untouched(&namespace), "{mode}");
        live.kill();
        assert!(is_untouched(&namespace), "{mode}");
    }
}

#[test]
fn a_finished_capture_leaves_nothing() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for mode in ["native", "generic", "af-packet"] {
        let live = Live::begin(&namespace, &["--mode", mode, "--duration", "200ms"]);
        let (summary, said) = live.end();
        assert_eq!((&summary["frames"], said.as_str()), (&0.into(), ""));
        assert!(is_untouched(&namespace), "{mode}");
    }
}

#[test]
fn a_signal_prints_the_counts() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for mode in ["auto", "af-packet"] {
        let mut live = Live::begin(&namespace, &["--mode", mode]);
        live.signal("-USR1");
        let line = live.line();
        assert!(line.contains("; 0 frames = 0 RoCEv2 + 0 other"), "{line}");
        live.stop();
    }
}

/// Guards against signals that interrupt the kernel in the middle of a flush.
#[test]
fn a_stopped_capture_resumes() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["--mode", "native"]);
    for _ in 0..100 {
        live.signal("-STOP");
        live.signal("-CONT");
    }
    assert_eq!(live.stop().1, "");
}

#[test]
fn a_capture_runs_a_command_and_ends_with_it() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for (script, expected) in [("exit 3", 3), ("exit 0", 0), ("kill -9 $$", 137)] {
        let live = Live::begin(&namespace, &["--", "sh", "-c", script]);
        let (_, said, status) = live.end_with();
        assert_eq!(status, Some(expected), "{said}");
        assert_eq!(said.starts_with("the command failed with "), expected != 0, "{said}");
    }
}

#[test]
fn an_interface_goes_down_and_is_removed() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for mode in ["native", "generic", "af-packet"] {
        let mut live = Live::begin(&namespace, &["--mode", mode]);
        namespace.ip(&["link", "set", "dev", RECEIVER, "down"]);
        assert_eq!(
            live.line(),
            format!("{RECEIVER} is down: no frames arrive until it is up\n")
        );
        namespace.ip(&["link", "set", "dev", RECEIVER, "up"]);
        assert_eq!(live.line(), format!("{RECEIVER} is up\n"));
        namespace.ip(&["link", "del", RECEIVER]);
        // A failure: a service manager starts the capture again until the interface is back.
        let (_, said, status) = live.end_with();
        let expected = format!(
            "{RECEIVER} was removed: its capture has ended\nrocescope: {RECEIVER}: removed, so the capture has ended; \
             start it again when the interface is back\n"
        );
        assert_eq!((said, status), (expected, Some(1)));
        namespace.ip(&["link", "add", SENDER, "type", "veth", "peer", "name", RECEIVER]);
        namespace.ip(&["link", "set", "dev", SENDER, "up"]);
        namespace.ip(&["link", "set", "dev", RECEIVER, "up"]);
    }
}

#[test]
fn a_foreign_program_stays_attached() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for first in ["native", "generic"] {
        let live = Live::begin(&namespace, &["--mode", first]);
        let attached = namespace.receiver()["xdp"].clone();
        for second in ["native", "generic", "auto"] {
            let mut command = namespace.command(binary());
            command.args(["capture", "-i", RECEIVER, "--mode", second]);
            let output = command.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success());
            let holder = format!("rocescope already captures there with XDP (process {})", live.process());
            assert!(said.contains(&holder) && said.contains("--mode af-packet"), "{said}");
            assert_eq!(namespace.receiver()["xdp"], attached);
        }
        live.stop();
    }
}

#[test]
fn several_interfaces_are_one_capture() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let live = Live::begin(&namespace, &["-i", SENDER, "--duration", "100ms"]);
    let (summary, _) = live.end();
    assert_eq!(summary["source"], format!("{RECEIVER},{SENDER}"));
    assert_eq!(summary["live"]["interfaces"][1]["mode"], "xdp native");
}

#[test]
fn a_missing_interface_is_named() {
    let output = Command::new(binary())
        .args(["capture", "-i", "nosuch0"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("rocescope: nosuch0: no such interface"), "{said}");
}

#[test]
fn an_interface_with_an_address_keeps_its_frames() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    namespace.ip(&["address", "add", "192.0.2.1/24", "dev", RECEIVER]);
    let live = Live::begin(&namespace, &["--mode", "native", "--duration", "100ms"]);
    let (summary, _) = live.end();
    assert_eq!(summary["live"]["verdict"], "pass");
    let reason = format!("{RECEIVER}: it has the address 192.0.2.1");
    assert_eq!(summary["live"]["verdict_reason"], reason);
}

/// A running capture applies new thresholds and filters; a wrong file changes nothing.
#[test]
fn the_configuration_is_reloaded() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rocescope.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    for mode in ["native", "af-packet"] {
        write("[capture]\nfilter = \"vlan 5 and service rc\"\n");
        let more = ["--mode", mode, "--config", path.to_str().unwrap()];
        let mut live = Live::begin(&namespace, &more);
        let said = if mode == "native" {
            "filter: the kernel applies `vlan 5`, user space the whole filter\n"
        } else {
            "filter: applied in user space; packet sockets deliver every frame\n"
        };
        assert_eq!(live.line(), said);
        write("[capture]\nfilter = \"service\"\n");
        live.signal("-HUP");
        let said = live.line();
        assert!(said.starts_with("configuration not reloaded: "), "{said}");
        while !live.line().trim_end().ends_with('^') {}
        write("[capture]\nfilter = \"vlan 100 and service rc\"\nwindow = \"2s\"\nlateness = \"3s\"\n");
        live.signal("-HUP");
        let expected = [
            "changed options that require a restart: lateness, window\n",
            "configuration reloaded\n",
        ];
        assert_eq!(expected.map(|_| live.line()), expected);
        if mode == "native" {
            // The kernel applies it from now on.
            let said = "filter: the kernel applies `vlan 100`, user space the whole filter\n";
            assert_eq!(live.line(), said);
        }
        replay(&namespace, &capture("vlan100_write_bw").unwrap());
        let (summary, _) = live.stop();
        let (kept, filtered) = (&summary["roce_packets"], &summary["filtered"]);
        assert!(kept.as_u64().unwrap() > 0, "{mode}");
        assert_eq!(filtered.as_u64(), Some(0), "{mode}");
    }
}

/// The verdict changes under a running capture: another socket receives the frames, and then none.
#[test]
fn the_verdict_is_reloaded() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rocescope.toml");
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    write("[capture]\nverdict = \"pass\"\n");
    let input = capture("vlan100_write_bw").unwrap();
    let config = ["--config", path.to_str().unwrap()];
    let mut xdp = Live::begin(&namespace, &[&["--mode", "native"], &config[..]].concat());
    let behind = Live::begin(&namespace, &["--mode", "af-packet"]);
    replay(&namespace, &input);
    write("[capture]\nverdict = \"drop\"\n");
    xdp.signal("-HUP");
    let expected = ["configuration reloaded\n", "verdict drop: as requested\n"];
    assert_eq!(expected.map(|_| xdp.line()), expected);
    replay(&namespace, &input);
    for live in [&xdp, &behind] {
        live.signal("-INT");
    }
    let (all, some) = (xdp.end().0, behind.end().0);
    let (all, some) = (&all, some["frames"].as_u64().unwrap());
    assert_eq!(all["frames"].as_u64(), Some(2 * some));
    assert_eq!(all["live"]["verdict"], "drop");

    // A packet socket cannot drop frames and can only report that.
    write("[capture]\n");
    let mut socket = Live::begin(&namespace, &[&["--mode", "af-packet"], &config[..]].concat());
    write("[capture]\nverdict = \"drop\"\n");
    socket.signal("-HUP");
    assert_eq!(socket.line(), expected[0]);
    let said = "a packet socket cannot drop frames: verdict drop requires XDP and a restart\n";
    assert_eq!(socket.line(), said);
    socket.stop();
}
