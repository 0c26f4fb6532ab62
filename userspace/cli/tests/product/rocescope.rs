//! The binary.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `rocescope` with these arguments, its streams piped.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it to completion.
pub(crate) fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Runs `capture -o json` over a file; it must succeed with no output on standard error.
pub(crate) fn json(file: &Path, arguments: &[&str]) -> Value {
    let file = file.to_str().unwrap();
    let output = run(&[&["capture", "-r", file, "-o", "json"], arguments].concat());
    parse(&output)
}

/// The JSON object of a successful run.
pub(crate) fn parse(output: &Output) -> Value {
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The output as text.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
