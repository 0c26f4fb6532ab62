//! Runs the binary in the background, for tests that talk to it while it works.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

/// Starts the command and waits for its first line, which must begin with `first`. Returns the rest of that line.
pub(crate) fn begin(command: &mut Command, first: &str) -> (Child, BufReader<ChildStderr>) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.starts_with(first), "{line}");
    (child, stderr)
}
