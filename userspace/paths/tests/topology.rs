//! Every format of a topology, and what contradicts itself in it.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_model::PathRow;
use rocescope_paths::topology::{Format, Learnt, Topology, check, read, tiers, to_dot, to_toml};
use std::fs;
use std::net::IpAddr;

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
    let found = check(topology);
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
fn toml_is_read_checked_and_written_back() {
    let (topology, format) = read_text("fabric.toml", TOML);
    assert_eq!(format, Format::Toml);
    assert_eq!(contradictions(&topology), Vec::<String>::new());
    let expected = "h0 host stated\nleaf1 leaf links\nspine1 spine links\n\
                    h0:eth0 leaf1:Ethernet3\nleaf1:Ethernet1 spine1:et-0/0/1:0";
    assert_eq!(summary(&topology), expected);
    let lines = |topology: &Topology| {
        let mut plain = topology.clone();
        plain.nodes.iter_mut().for_each(|node| node.line = None);
        plain.links.iter_mut().for_each(|link| link.line = None);
        plain
    };
    let (again, _) = read_text("again.toml", &to_toml(&topology));
    assert_eq!(lines(&again), lines(&topology));
    let (dot, format) = read_text("again", &to_dot(&topology));
    assert_eq!((format, summary(&dot)), (Format::Dot, expected.to_owned()));
    let fabric = topology.fabric();
    let way = fabric.egress(fabric.find("leaf1").unwrap(), "Ethernet1").unwrap();
    assert_eq!(fabric.end_name(fabric.to(way)), "spine1:et-0/0/1:0");
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
fn toml_errors_name_their_line() {
    let text = error("a.toml", "[[node]]\nname = \"a\"\ncolor = 3\n");
    assert!(text.starts_with("/a.toml:3: unknown field `color`"), "{text}");
    let text = error("a.toml", "[[node]]\nname = \"a\"\n\n[[link]]\nends = [\"a\"]\n");
    assert!(text.starts_with("/a.toml:4: `a` is no port"), "{text}");
}

#[test]
fn containerlab_gives_kinds_groups_and_management() {
    let (topology, format) = read_text(
        "lab.clab.yml",
        "
name: lab
topology:
  defaults:
    kind: ceos
  nodes:
    leaf1: {mgmt-ipv4: 172.20.20.11}
    spine1:
      group: spine
    srv1:
      kind: linux
      labels: {graph-icon: host}
    srv2: &server
      kind: linux
      group: server
    srv3: *server
  links:
    - endpoints: [\"srv1:eth1\", \"leaf1:eth1\"]
    - endpoints: [\"srv2:eth1\", \"leaf1:eth2\"]
    - endpoints:
        - node: leaf1
          interface: eth3
        - {node: spine1, interface: eth1}
    - endpoints: [\"leaf1:eth9\", \"host:veth9\"]
    - endpoints: [\"leaf1:eth4\", \"spine2:eth1\"]
",
    );
    assert_eq!(format, Format::Containerlab);
    let expected = "leaf1 leaf links\nspine1 spine stated\nsrv1 host stated\nsrv2 host stated\nsrv3 host stated\n\
                    leaf1:eth1 srv1:eth1\nleaf1:eth2 srv2:eth1\nleaf1:eth3 spine1:eth1\nleaf1:eth4 spine2:eth1";
    assert_eq!(summary(&topology), expected);
    assert_eq!(contradictions(&topology), ["16 no_links", "25 unknown_node"]);
    let leaf = topology.node("leaf1").unwrap();
    assert_eq!(
        (leaf.management.as_deref(), leaf.driver.as_deref()),
        (Some("172.20.20.11"), Some("eos"))
    );
    assert_eq!(topology.node("srv1").unwrap().driver.as_deref(), Some("linux"));
    let text = error("a.yml", "topology:\n  nodes: [a\n");
    assert!(text.starts_with("/a.yml:"), "{text}");
    // Aliases of aliases: a billion values from ten lines.
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let before = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
    }
    let text = error("a.yml", &bomb);
    assert!(text.contains("repeats too many values"), "{text}");
}

#[test]
fn dot_is_read_as_ptm_uses_it() {
    let (topology, format) = read_text(
        "topology.dot",
        r#"
# PTM
graph G {
    node [shape=record];
    graph [hostidtype="hostname", version="1:0", date="06/26/2013"];
    edge [dir=none]
    "leaf1" [function="leaf" mgmt_ip="192.168.0.11"]
    /* cables
       of rack 1 */
    "leaf1":"swp1" -- "spine1":"swp3" [LLDP="match_type=portdescr"];
    leaf1:swp2 -- spine2:swp3  // no quotes
    subgraph cluster_1 { "server1:eth0" -- "leaf1:swp9"; }
    "leaf1":"swp2" -- "spine1":"swp4"
}
"#,
    );
    assert_eq!(format, Format::Dot);
    let expected = "leaf1 leaf stated\nserver1 host name\nspine1 spine links\nspine2 spine links\n\
                    leaf1:swp1 spine1:swp3\nleaf1:swp2 spine1:swp4\nleaf1:swp2 spine2:swp3\nleaf1:swp9 server1:eth0";
    assert_eq!(summary(&topology), expected);
    assert_eq!(contradictions(&topology), ["13 two_links"]);
    let text = error("a.dot", "graph G {\n  a -- \"b\":\"1\"\n}\n");
    assert!(text.starts_with("/a.dot:2: the link at a names no port"), "{text}");
    assert!(error("a.dot", "graph G {\n  \"a").starts_with("/a.dot:2: a quoted name has no end"));
}

/// The three shapes of lldpcli: `json` with one neighbor, `json` with several, and `json0`.
const ONE: &str = r#"{"lldp": {"interface": {"swp1": {"via": "LLDP",
    "chassis": {"spine1": {"id": {"type": "mac", "value": "52:54:00:00:00:01"}, "mgmt-ip": "192.0.2.21",
        "capability": [{"type": "Bridge", "enabled": true}, {"type": "Router", "enabled": true}]}},
    "port": {"id": {"type": "ifname", "value": "swp3"}, "descr": "swp3"}}}}}"#;
const SEVERAL: &str = r#"{"lldp": {"interface": [
    {"swp3": {"chassis": {"leaf1": {"id": {"type": "mac", "value": "x"}, "mgmt-ip": ["192.0.2.11", "fe80::1"]}},
        "port": {"id": {"type": "mac", "value": "y"}, "descr": "swp1"}}},
    {"swp4": {"chassis": {"leaf2": {"id": {"type": "mac", "value": "x"}}},
        "port": {"id": {"type": "ifname", "value": "swp1"}}}}]}}"#;
const JSON0: &str = r#"{"lldp": [{"interface": [{"name": "swp9",
    "chassis": [{"name": [{"value": "gpu1"}], "id": [{"type": "mac", "value": "x"}],
        "capability": [{"type": "Station", "enabled": true}]}],
    "port": [{"id": [{"type": "mac", "value": "y"}], "descr": [{"value": "eth0"}]}]}]}]}"#;

#[test]
fn neighbors_of_several_nodes_are_joined_and_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("leaf1", ONE), ("spine1", SEVERAL), ("leaf2", JSON0)] {
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let (topology, format) = read(folder.path()).unwrap();
    assert_eq!(format, Format::Lldp);
    let expected = "gpu1 host stated\nleaf1 super-spine links\nleaf2 leaf links\nspine1 spine links\n\
                    gpu1:eth0 leaf2:swp9\nleaf1:swp1 spine1:swp3\nleaf2:swp1 spine1:swp4";
    assert_eq!(summary(&topology), expected);
    let notes = check(&topology);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].message.starts_with("spine1:swp4 sees leaf2:swp1, but"),
        "{notes:?}"
    );
    let management = |name: &str| topology.node(name).unwrap().management.clone();
    assert_eq!(management("leaf1").as_deref(), Some("192.0.2.11"));
    assert_eq!(management("spine1").as_deref(), Some("192.0.2.21"));
    let text = error("a.json", "{\n\"lldp\": [}");
    assert!(text.starts_with("/a.json:2: "), "{text}");
}

#[test]
fn learnt_paths_join_the_addresses_of_a_router() {
    let mut learnt = Learnt::default();
    // h0 - r0 - s0 - r1 - h0, and back. Links are /31: hosts have the even address.
    let paths = [
        ("10.0.0.0", "10.0.0.2", ["10.0.0.1", "10.0.1.1", "10.0.1.2", "10.0.0.2"]),
        ("10.0.0.2", "10.0.0.0", ["10.0.0.3", "10.0.1.3", "10.0.1.0", "10.0.0.0"]),
    ];
    for (src, dst, hops) in paths {
        for (hop, address) in (1..).zip(hops) {
            let at = |text: &str| text.parse::<IpAddr>().unwrap();
            let nic = |text: &str| if text == "10.0.0.0" { "n0" } else { "n1" };
            learnt.add(&PathRow {
                observer: "h0".into(),
                src_nic: nic(src).into(),
                dst_nic: nic(dst).into(),
                src: at(src),
                dst: at(dst),
                hops: 4,
                hop,
                address: Some(at(address)),
                ..PathRow::default()
            });
        }
    }
    let expected = "10.0.0.1 leaf links\n10.0.0.3 leaf links\n10.0.1.1 spine links\nh0 host stated\n\
                    10.0.0.1:10.0.0.1 h0:n0\n10.0.0.1:10.0.1.0 10.0.1.1:10.0.1.1\n\
                    10.0.0.3:10.0.0.3 h0:n1\n10.0.0.3:10.0.1.2 10.0.1.1:10.0.1.3";
    assert_eq!(summary(&learnt.topology()), expected);
}
