//! `rocescope topology` and `rocescope paths`.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod devices;
mod fim;
mod hashing;
mod namespaces;
mod passwords;
mod sessions;
mod sflow;
mod signals;
mod switches;
mod topology;
mod workload;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn rocescope(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope"));
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn text(arguments: &[&str], folder: &Path) -> String {
    let output = rocescope(arguments, folder);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    serde_json::from_str(&text(arguments, folder)).unwrap()
}

/// `paths discover` of a list of flows, with the topology `fabric.toml` and the client's configuration `ssh`: its text.
fn discover_text(list: &str) -> [&str; 8] {
    [
        "paths",
        "discover",
        "--topology",
        "fabric.toml",
        "--ssh-config",
        "ssh",
        "--flows",
        list,
    ]
}

/// The same as JSON.
fn discover<'a>(list: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    [&discover_text(list)[..], &["-o", "json"], options].concat()
}

fn discovered(folder: &Path, list: &str, options: &[&str]) -> Value {
    json(&discover(list, options), folder)
}
