//! The binary under test.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The path of `rocescope`, which cargo builds in a folder above the executables of tests.
pub fn binary() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let places = test.ancestors().skip(1).map(|folder| folder.join("rocescope"));
        let found = places.into_iter().find(|path| path.is_file());
        let found = found.unwrap_or_else(|| panic!("no rocescope above {}: cargo build -p rocescope", test.display()));
        found.to_str().unwrap().to_owned()
    })
}

/// `rocescope` with these arguments and without input.
pub fn command<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// As [`run`], in a folder.
pub fn run_in(arguments: &[&str], folder: &Path) -> Output {
    command(arguments).current_dir(folder).output().unwrap()
}

/// Standard output of a run that succeeded.
#[track_caller]
pub fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The JSON that a run printed, which succeeded.
#[track_caller]
pub fn json(output: &Output) -> Value {
    serde_json::from_str(&text(output)).unwrap()
}

/// Standard error of a run that failed and printed nothing else.
#[track_caller]
pub fn refusal(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}
