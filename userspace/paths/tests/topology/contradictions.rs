//! What contradicts itself.

use super::{TOML, contradictions, read_text};
use rocescope_paths::topology::check;
use std::path::Path;

#[test]
fn links_to_the_own_node_and_invalid_management_addresses_are_named() {
    let text = r#"
[[node]]
name = "leaf1"
management = "192.0.2.1:99999"
[[link]]
ends = ["leaf1:e9", "leaf1:e10"]
[[link]]
ends = ["leaf1:e1", "h1:e1"]
"#;
    let (topology, _) = read_text("fabric.toml", text);
    let found = check(&topology, Path::new("."));
    let kinds: Vec<&str> = found.iter().map(|found| found.kind).collect();
    for kind in ["management_invalid", "tiers_not_adjacent"] {
        assert!(kinds.contains(&kind), "{kind}: {found:?}");
    }
}

#[test]
fn contradictions_are_named_with_their_lines() {
    let (topology, _) = read_text(
        "fabric.toml",
        r#"
[[node]]
name = "leaf1"
ports = ["e1", "e2", "e3"]
addresses = ["10.0.0.1"]

[[node]]
name = "leaf2"
addresses = ["10.0.0.1"]

[[node]]
name = "h0"

[[node]]
name = "lonely"
tier = "basement"

[[link]]
ends = ["h0:eth0", "leaf1:e1"]
[[link]]
ends = ["leaf1:e1", "leaf2:e1"]
[[link]]
ends = ["leaf1:e2"]
[[link]]
ends = ["leaf1:e4", "spine9:e1"]
[[link]]
ends = ["h0:eth0", "leaf1:e1"]
[[link]]
ends = ["leaf1:e3", "leaf1:e3"]
"#,
    );
    let found = contradictions(&topology);
    let expected = [
        "7 address_repeated",
        "14 no_links",
        "14 unknown_tier",
        "20 two_links",
        "22 one_end",
        "24 unknown_node",
        "24 unknown_port",
        "26 link_repeated",
        "28 same_port",
    ];
    assert_eq!(found, expected);
    // Only the first link of a port counts.
    assert_eq!(topology.fabric().links(), 1);
}

#[test]
fn a_tier_without_links_to_the_tier_below_is_unreachable() {
    let (topology, _) = read_text(
        "fabric.toml",
        r#"
tiers = ["host", "tor", "core"]
[[node]]
name = "a"
kind = "host"
[[node]]
name = "b"
tier = "tor"
[[node]]
name = "c"
tier = "core"
[[node]]
name = "d"
tier = "core"
[[link]]
ends = ["a:1", "b:1"]
[[link]]
ends = ["c:1", "d:1"]
"#,
    );
    let found = contradictions(&topology);
    let expected = [
        "- unreachable_tier",
        "9 unreachable",
        "12 unreachable",
        "17 tiers_not_adjacent",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_node_that_is_declared_twice_is_named_with_both_lines_and_the_first_counts() {
    let text = "[[node]]\nname = \"leaf1\"\nports = [\"e1\"]\n[[node]]\nname = \"leaf1\"\nports = [\"e9\"]\n\
                [[node]]\nname = \"h0\"\n[[link]]\nends = [\"leaf1:e1\", \"h0:eth0\"]\n";
    let (topology, _) = read_text("a.toml", text);
    let found = check(&topology, Path::new("."));
    let messages: Vec<&str> = found.iter().map(|found| &*found.message).collect();
    let expected = ["leaf1 is declared again: its declaration in line 1 counts, remove one"];
    assert_eq!((messages, found[0].line), (expected.to_vec(), Some(4)));
    assert_eq!(topology.nodes.len(), 2);
    // The members of a merged map do not declare a node again.
    let text = "base: &b\n  h0: {kind: linux}\ntopology:\n  nodes:\n    <<: *b\n    h0: {kind: ceos}\n    leaf1: {kind: ceos}\n  \
                links:\n    - endpoints: [\"h0:eth1\", \"leaf1:eth1\"]\n";
    let (topology, _) = read_text("a.yml", text);
    assert_eq!(contradictions(&topology), Vec::<String>::new());
    assert_eq!(topology.node("h0").unwrap().driver.as_deref(), Some("eos"));
}

#[test]
fn empty_files_channels_with_the_same_port_and_unknown_drivers_are_contradictions() {
    let (topology, _) = read_text("a.toml", "");
    assert_eq!(contradictions(&topology), ["- empty"]);
    let text = TOML
        .replace("driver = \"eos\"", "driver = \"eoss\"")
        .replace("channels = { ", "channels = { Po2 = [\"Ethernet2\"], ");
    let (topology, _) = read_text("a.toml", &text);
    let found = check(&topology, Path::new("."));
    let messages: Vec<&str> = found.iter().map(|found| &*found.message).collect();
    assert_eq!(
        messages[0],
        "leaf1:Ethernet2 is in two port channels, Po2 and Port-Channel1"
    );
    assert!(
        messages[1].starts_with("the driver of leaf1: no driver `eoss`: choose one of "),
        "{messages:?}"
    );
    assert_eq!(messages.len(), 2);
}

#[test]
fn a_tier_that_is_no_tier_has_a_clear_error() {
    for (tier, shown) in [
        ("-1", "-1"),
        ("256", "256"),
        ("1.5", "this float"),
        ("[1]", "this array"),
    ] {
        let text = super::error("fabric.toml", &format!("[[node]]\nname = \"leaf1\"\ntier = {tier}\n"));
        let expected = format!("/fabric.toml:3: {shown} is no tier: write its name, or a number from 0 (hosts) to 255");
        assert_eq!(text, expected);
    }
}
