//! `rocescope topology` and `rocescope paths`.

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

use rocescope_testkit::run_in;
use serde_json::Value;
use std::path::Path;

fn text(arguments: &[&str], folder: &Path) -> String {
    rocescope_testkit::text(&run_in(arguments, folder))
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    rocescope_testkit::json(&run_in(arguments, folder))
}

/// Limits that only a hang reaches, also on a busy machine.
const LIMITS: [[&str; 2]; 2] = [["--time-limit", "300s"], ["--connect-limit", "300s"]];

/// `paths discover` of a list of flows, with the topology `fabric.toml` and the client's configuration `ssh`: its text. The
/// options may have another limit.
fn discover_text<'a>(list: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let call = [
        "paths",
        "discover",
        "--topology",
        "fabric.toml",
        "--ssh-config",
        "ssh",
        "--flows",
        list,
    ];
    let limits = LIMITS.into_iter().filter(|[limit, _]| !options.contains(limit));
    call.into_iter()
        .chain(limits.flatten())
        .chain(options.iter().copied())
        .collect()
}

/// The same as JSON.
fn discover<'a>(list: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    discover_text(list, &[&["-o", "json"], options].concat())
}

fn discovered(folder: &Path, list: &str, options: &[&str]) -> Value {
    json(&discover(list, options), folder)
}
