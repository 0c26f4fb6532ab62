//! `rocescope topology check`, `show` and `convert`.

use super::{json, rocescope, text};
use std::fs;

const LAB: &str = "\
topology:
  nodes:
    leaf1: {kind: ceos}
    spine1: {kind: ceos}
    srv1: {kind: linux}
  links:
    - endpoints: [\"srv1:eth1\", \"leaf1:eth1\"]
    - endpoints: [\"leaf1:eth2\", \"spine1:eth1\"]
    - endpoints: [\"leaf1:eth2\", \"spine1:eth2\"]
";

#[test]
fn a_contradiction_is_named_with_file_and_line_and_fails_the_check() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lab.clab.yml"), LAB).unwrap();
    let output = rocescope(&["topology", "check", "lab.clab.yml"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let expected = "lab.clab.yml:9: leaf1:Ethernet2 has two links, first in line 8: a port has one\n\
                    3 nodes, 3 links, 1 contradiction\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn a_converted_topology_has_the_same_nodes_tiers_and_links() {
    let folder = tempfile::tempdir().unwrap();
    let sound = LAB.replace("    - endpoints: [\"leaf1:eth2\", \"spine1:eth2\"]\n", "");
    fs::write(folder.path().join("lab.clab.yml"), sound).unwrap();
    let before = json(&["topology", "show", "lab.clab.yml", "-o", "json"], folder.path());
    assert_eq!(before["nodes"][0]["tier"], "leaf");
    assert_eq!(before["nodes"][0]["driver"], "eos");
    for format in ["toml", "dot"] {
        let converted = text(&["topology", "convert", "lab.clab.yml", "--to", format], folder.path());
        let name = format!("fabric.{format}");
        fs::write(folder.path().join(&name), converted).unwrap();
        text(&["topology", "check", &name], folder.path());
        let after = json(&["topology", "show", &name, "-o", "json"], folder.path());
        assert_eq!(after, before, "{format}");
    }
    let shown = text(&["topology", "show", "fabric.toml"], folder.path());
    assert!(shown.contains("spine1  switch  spine  links"), "{shown}");
}
