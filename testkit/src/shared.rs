//! Data that lie beside the project, in `../shared`, and what a test does without something that it needs.

use std::io::Write;
use std::path::{Path, PathBuf};

/// States why a test does not run, past the capture of the test runner. Where `CI` is set, it fails instead.
#[track_caller]
pub fn fails_in_ci(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "{reason}");
    skipped(reason);
}

/// The file or folder `name` of the data beside the project. Where it is missing, the test states that and does not run;
/// where `CI` is set and other data are there, it fails.
#[track_caller]
pub fn shared(name: &str) -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = data.join(name);
    if path.exists() {
        return Some(path);
    }
    let reason = format!("../shared/{name} is not there");
    match data.exists() {
        true => fails_in_ci(&reason),
        false => skipped(&reason),
    }
    None
}

/// Test runners capture what macros print, and forget it when the test passes.
fn skipped(reason: &str) {
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "not run: {test}: {reason}");
}
