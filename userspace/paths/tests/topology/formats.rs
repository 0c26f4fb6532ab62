//! TOML, containerlab and DOT.

use super::{TOML, contradictions, error, read_text, summary};
use rocescope_paths::topology::{Format, Topology, lost, to_dot, to_toml};

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
                    leaf1:Ethernet1 srv1:eth1\nleaf1:Ethernet2 srv2:eth1\nleaf1:Ethernet3 spine1:Ethernet1\nleaf1:Ethernet4 spine2:eth1";
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

#[test]
fn dot_has_all_of_a_topology_and_what_it_cannot_have_is_named() {
    let text = TOML.replace(
        "channels = {",
        "ports = [\"Ethernet1\", \"a,b=c%\", \"Ethernet3\"]\nvtep = \"192.0.2.9\"\nchannels = {",
    );
    let text = format!(
        "tiers = [\"host\", \"tor\", \"top\"]\n{}",
        text.replacen("kind = \"switch\"", "kind = \"switch\"\ntier = \"tor\"", 1)
    );
    let text = text
        .replace("name = \"spine1\"", "name = \"fd00::1\"")
        .replace("spine1:", "s2:");
    let (topology, _) = read_text("a.toml", &text);
    assert_eq!(lost(&topology, &to_dot(&topology), Format::Dot), Vec::<String>::new());
    let mut cut = topology;
    cut.links[0].ends.pop();
    let found = lost(&cut, &to_dot(&cut), Format::Dot);
    assert_eq!(found, ["the link of h0:eth0"]);
}
