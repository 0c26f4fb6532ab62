//! The binary.

pub(crate) use rocescope_testkit::run;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `rocescope` with these arguments, its streams piped.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = rocescope_testkit::command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
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
