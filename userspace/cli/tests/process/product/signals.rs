//! SIGINT and SIGTERM end a capture in the same way as the end of its input.

use crate::product::{captures, rocescope, traffic};
use rocescope_testkit::until;
use std::io::Write;
use std::process::{Command, Stdio};

/// More than a pipe and the reader's buffer hold together: once it is written, the capture has started.
const STARTED: usize = 1 << 20;

#[test]
fn a_signal_ends_with_summary_and_dataset() {
    for signal in ["-INT", "-TERM"] {
        ends_with_summary_and_dataset(signal);
    }
}

fn ends_with_summary_and_dataset(signal: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let file = traffic::repeated(&captures::named("cm_rping"), 5_000, 1_795_228_209, 10_000);
    let mut child = rocescope::command(&["capture", "-r", "-", "-o", "json", "--out", root])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&file[..STARTED]).unwrap();

    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.unwrap().success());
    // The pipe stays open: the capture must not need more input.
    until("the capture ends", || child.try_wait().unwrap().is_some());
    drop(stdin);

    let output = child.wait_with_output().unwrap();
    let found = rocescope::parse(&output);
    let frames = found["frames"].as_u64().unwrap();
    assert!((100..5_000).contains(&frames), "{frames}");
    let scan = rocescope_store::scan(folder.path()).unwrap();
    assert_eq!((scan.open.len(), scan.unreadable.len()), (0, 0));
    assert_eq!(scan.row_count("windows"), found["windows"].as_u64().unwrap());
}
