//! `demo`: one incident for each fault of its five systems, and examples with the faults that their page names.

use rocescope_testkit::command;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn printed(arguments: &[&str], folder: &Path) -> String {
    let output = command(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn incidents(dataset: &str, more: &[&str], folder: &Path) -> BTreeSet<String> {
    let printed = printed(&[&["diagnose", dataset, "-o", "json"], more].concat(), folder);
    let document: Value = serde_json::from_str(&printed).unwrap();
    let of = |one: &Value| {
        let (class, place) = (&one["class"], &one["place"]["name"]);
        format!("{} {}", class.as_str().unwrap(), place.as_str().unwrap())
    };
    document["incidents"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn each_system_has_its_fault_and_a_second_run_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = printed(&["demo", "--out", "d"], folder);
    let expected = [
        "slow_receiver 10.77.0.2",
        "network_loss 10.10.0.11 > 10.10.0.21",
        "loss 10.0.0.3>10.0.0.37 or switch 10.0.0.37",
        "loopback gpu-host: PCIe switch 2 – CPU root port 2",
        "slow_rank 10.20.0.6",
        "sick_cable gpu-0 rocep177s0/1",
    ];
    let expected = expected.map(String::from).into();
    assert_eq!(incidents("d", &[], folder), expected);
    assert_eq!(printed(&["demo", "--out", "d"], folder), first);
    assert_eq!(incidents("d", &[], folder), expected);
}

#[test]
fn a_topology_names_the_link_of_the_example() {
    let (fabric, topology) = (examples().join("fabric"), examples().join("fabric.toml"));
    let topology = ["--topology", topology.to_str().unwrap()];
    let found = incidents(fabric.to_str().unwrap(), &topology, Path::new("."));
    assert!(found.contains("loss r1>s2"), "{found:?}");
}
