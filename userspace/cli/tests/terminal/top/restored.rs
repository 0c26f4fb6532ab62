//! Signals, suspension, small terminals.

use crate::top::input;
use crate::top::terminal::Terminal;
use rocescope_testkit::{binary, until};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

fn view() -> Terminal {
    let line = format!("$ROCESCOPE top -r {} --speed max", input::capture());
    let terminal = Terminal::run(80, 24, &line);
    terminal.wait("ended");
    assert_eq!(terminal.taken(), (true, false));
    terminal
}

/// A second signal arrives before the program can have handled the first, and changes nothing.
#[test]
fn a_signal_ends_the_view_and_restores_the_terminal() {
    for signal in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let line = format!(
            "sh -c 'echo $$ > {}; exec $ROCESCOPE top -r {} --speed 0.001'; echo left-$?",
            file.display(),
            input::capture()
        );
        let terminal = Terminal::run(80, 24, &line);
        terminal.wait("1 Flows");
        let pid = std::fs::read_to_string(&file).unwrap();
        // Send both from one process: another may be slow to start on a busy machine.
        let both = [signal, pid.trim(), pid.trim()];
        let sent = Command::new("kill").args(both).status();
        assert!(sent.unwrap().success());
        terminal.wait("left-0");
        terminal.is_restored();
    }
}

#[test]
fn the_view_suspends_and_resumes() {
    let terminal = view();
    for _ in 0..2 {
        terminal.press(&["C-z"]);
        terminal.wait("Stopped");
        terminal.is_restored();
        terminal.type_in("clear; fg");
        terminal.press(&["Enter"]);
        terminal.wait("ended");
        assert_eq!(terminal.taken(), (true, false));
    }
    // A signal from another process suspends it too.
    terminal.press(&["C-z"]);
    terminal.wait("Stopped");
    terminal.type_in("clear; view=$(jobs -p); (sleep 0.5; kill -TSTP $view) & fg %1");
    terminal.press(&["Enter"]);
    terminal.wait("Stopped");
    terminal.is_restored();
    terminal.type_in("clear; fg %1");
    terminal.press(&["Enter"]);
    terminal.wait("ended");
    terminal.quit();
}

#[test]
fn too_small_a_terminal_is_reported_and_a_growing_one_is_filled() {
    let terminal = view();
    terminal.resize(79, 24);
    terminal.wait("79 x 24 is too small");
    terminal.resize(120, 40);
    let screen = terminal.wait("4 Events");
    assert!(screen.lines().count() >= 39, "{screen}");
    terminal.quit();
}

/// A terminal that answers neither its size nor its cursor position, such as a serial line.
#[test]
fn a_terminal_that_answers_nothing_still_works() {
    let line = format!("exec {} top -r {} --speed max", binary(), input::capture());
    // A pseudo terminal without a terminal emulator at its other end.
    let mut child = script(&["-qec", &line, "/dev/null"]);
    let mut drawn = Vec::new();
    let mut out = child.stdout.take().unwrap();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&drawn).contains("10.10.0.") {
        let length = out.read(&mut piece).unwrap();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&drawn));
        drawn.extend_from_slice(&piece[..length]);
    }
    let mut keys = child.stdin.take().unwrap();
    keys.write_all(b"q").unwrap();
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The window of a terminal is closed, or its connection breaks, and no signal arrives.
#[test]
fn a_vanished_terminal_ends_the_view() {
    let ended = tempfile::NamedTempFile::new().unwrap();
    let line = format!(
        "trap '' HUP; {} top -r {} --speed 0.001; echo $? > {}",
        binary(),
        input::capture(),
        ended.path().display()
    );
    let mut child = script(&["-qc", &line, "/dev/null"]);
    let mut out = child.stdout.take().unwrap();
    let mut piece = [0; 4096];
    assert_ne!(out.read(&mut piece).unwrap(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the view ends", || !std::fs::read(ended.path()).unwrap().is_empty());
}

/// Starts `script`, which runs a command in a pseudo terminal.
fn script(arguments: &[&str]) -> Child {
    let mut script = Command::new("script");
    script.args(arguments).env("TERM", "xterm");
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    script.spawn().unwrap()
}
