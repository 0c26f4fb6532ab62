//! `--direction`: frames that arrive, that leave, or both, on both ends of a pair.

use crate::live::namespace::{Namespace, RECEIVER, SENDER};
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_capture::file::{self, FrameReader};
use rocescope_host::interface::Interface;
use rocescope_host::packet::{Receive, Socket};
use rocescope_testkit::{Running, binary};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread::scope;

/// Sends the frames of a file as a program of this host does: captures of leaving frames see them. Returns how many.
fn send(namespace: &Namespace, path: &Path) -> u64 {
    scope(|scope| {
        // Only this thread enters the namespace, and it ends there.
        let sender = scope.spawn(|| {
            let entry = File::open(format!("/run/netns/{}", namespace.name())).unwrap();
            move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let socket = Socket::open().unwrap();
            let interface = Interface::find(SENDER).unwrap();
            socket.bind(interface.index, Receive::Nothing).unwrap();
            let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
            let mut sent = 0;
            while let Some(frame) = reader.next_frame().unwrap() {
                socket.send(frame.bytes, 0).unwrap();
                sent += 1;
            }
            sent
        });
        sender.join().unwrap()
    })
}

#[test]
fn each_direction_has_its_frames() {
    let (Some(namespace), Some(path)) = (Namespace::new(), capture("rnr_nak")) else {
        return;
    };
    let cases = [
        (SENDER, "in", "arriving frames only", false),
        (SENDER, "out", "leaving frames only", true),
        (SENDER, "both", "arriving and leaving frames", true),
        (RECEIVER, "in", "arriving frames only", true),
        (RECEIVER, "out", "leaving frames only", false),
        (RECEIVER, "both", "arriving and leaving frames", true),
    ];
    for (interface, direction, words, sees) in cases {
        let mut command = namespace.command(binary());
        command.args(["capture", "-o", "json", "-i", interface, "--mode", "af-packet"]);
        command.args(["-q", "--direction", direction]);
        let first = format!("capturing on {interface} with af_packet, {words}\n");
        let live = Live::of(Running::begin(&mut command, &first));
        let sent = send(&namespace, &path);
        let (summary, said) = live.stop();
        assert_eq!(said, "");
        let expected = if sees { sent } else { 0 };
        assert!(sent > 50);
        assert_eq!(summary["frames"], expected, "{interface} {direction}");
        assert_eq!(summary["live"]["direction"], direction);
    }
}

/// XDP runs when a frame arrives: it refuses the rest, and the first line names what it sees.
#[test]
fn xdp_sees_arriving_frames_only() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for (direction, mode) in [("out", "native"), ("both", "generic")] {
        let mut command = namespace.command(binary());
        command.args(["capture", "-i", RECEIVER, "--mode", mode, "--direction", direction]);
        let output = command.output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        let why =
            format!("--direction {direction} requires leaving frames, which XDP does not see: use --mode af-packet");
        assert!(said.contains(&why) && said.lines().count() == 1, "{said}");
    }
    let first = |options: &[&str]| {
        let mut command = namespace.command(binary());
        command.args(["capture", "-i", RECEIVER, "--duration", "50ms"]);
        let output = command.args(options).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let native = first(&["--mode", "native"]);
    let words = format!("capturing on {RECEIVER} with xdp native, arriving frames only");
    assert!(native.starts_with(&words), "{native}");
    let socket = "with af_packet, leaving frames only: --direction out requires leaving frames, which XDP does not see";
    assert_eq!(
        first(&["--direction", "out"]),
        format!("capturing on {RECEIVER} {socket}\n")
    );
}
