//! `rocescope topology check`, `show` and `convert`.

use super::{json, text};
use rocescope_testkit::run_in;
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
    let output = run_in(&["topology", "check", "lab.clab.yml"], folder.path());
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

/// LLDP neighbors name themselves: what they write is printed, and does not control the terminal.
#[test]
fn names_that_control_a_terminal_are_printed_without_that() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lldp = r#"{"lldp": {"interface": [
        {"swp1": {"chassis": {"spine\u001b[2J1\u202e": {"id": {"type": "mac", "value": "x"}}},
            "port": {"id": {"type": "ifname", "value": "swp\u0007"}}}},
        {"swp2": {"chassis": {}}}]}}"#;
    fs::write(folder.join("leaf1.json"), lldp).unwrap();
    fs::write(
        folder.join("paths.json"),
        r#"[{"flow": "\u001b[31m", "hops": [["leaf\u001b9", "e1"]]}]"#,
    )
    .unwrap();
    for arguments in [
        "topology show leaf1.json",
        "topology check leaf1.json",
        "topology convert leaf1.json",
        "paths fim --topology leaf1.json --paths paths.json",
        "paths compare paths.json paths.json --topology leaf1.json",
        "paths fim --topology leaf1.json --paths \u{1b}[31m",
    ] {
        let output = run_in(&arguments.split(' ').collect::<Vec<&str>>(), folder);
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8(printed).unwrap();
        let is_harmless = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(printed.chars().all(is_harmless), "{arguments}: {printed:?}");
    }
    let converted = text(&["topology", "convert", "leaf1.json"], folder);
    fs::write(folder.join("fabric.toml"), converted).unwrap();
    let nodes = |file: &str| json(&["topology", "show", file, "-o", "json"], folder)["nodes"].clone();
    assert_eq!(nodes("fabric.toml"), nodes("leaf1.json"));
    let checked = run_in(&["topology", "check", "leaf1.json"], folder);
    let checked = String::from_utf8(checked.stdout).unwrap();
    assert!(
        checked.contains("leaf1 has 1 neighbor that LLDP gives no name or port of"),
        "{checked}"
    );
}
