//! Every format of a topology, and what contradicts itself in it.

mod contradictions;
mod formats;
mod neighbors;

use rocescope_paths::topology::{Format, Topology, check, read, tiers};
use std::fs;
use std::path::Path;

fn read_text(name: &str, text: &str) -> (Topology, Format) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path).unwrap()
}

fn error(name: &str, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let error = read(&path).unwrap_err().to_string();
    error.replace(&folder.path().display().to_string(), "")
}

/// Contradictions as `line kind`.
fn contradictions(topology: &Topology) -> Vec<String> {
    let found = check(topology, Path::new("."));
    let found = found.iter().map(|found| match found.line {
        Some(line) => format!("{line} {}", found.kind),
        None => format!("- {}", found.kind),
    });
    found.collect()
}

/// Nodes with their tiers, and links.
fn summary(topology: &Topology) -> String {
    let names = topology.tier_names();
    let mut lines: Vec<String> = topology
        .nodes
        .iter()
        .zip(tiers(topology))
        .map(|(node, tiered)| {
            let tier = tiered.tier.map_or("?", |tier| &names[tier]);
            format!("{} {tier} {}", node.name, tiered.origin.name())
        })
        .collect();
    lines.sort();
    let mut links: Vec<String> = topology
        .links
        .iter()
        .map(|link| {
            let mut ends: Vec<String> = link.ends.iter().map(ToString::to_string).collect();
            ends.sort();
            ends.join(" ")
        })
        .collect();
    links.sort();
    lines.extend(links);
    lines.join("\n")
}

const TOML: &str = r#"
[[node]]
name = "leaf1"
kind = "switch"
addresses = ["10.0.0.1", "10.0.0.3"]
management = "192.0.2.11"
driver = "eos"
channels = { "Port-Channel1" = ["Ethernet1", "Ethernet2"] }

[[node]]
name = "spine1"

[[node]]
name = "h0"
kind = "host"

[[link]]
ends = ["h0:eth0", "leaf1:Ethernet3"]

[[link]]
ends = ["leaf1:Ethernet1", "spine1:et-0/0/1:0"]
"#;

#[test]
fn a_file_without_an_end_is_an_error() {
    let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
    assert_eq!(error, "/dev/zero: longer than 64 MiB");
}
