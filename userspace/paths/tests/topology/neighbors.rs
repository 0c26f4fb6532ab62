//! LLDP neighbors, and hops of probes.

use super::{contradictions, error, read_text, summary};
use rocescope_model::PathRow;
use rocescope_paths::topology::{Format, Learnt, check, read};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

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
    let notes = check(&topology, Path::new("."));
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

/// A phone has an identifier, a broken neighbor nothing.
#[test]
fn neighbors_without_a_system_name_have_their_identifier_or_are_counted() {
    for id in [
        r#"{"id": {"type": "mac", "value": "52:54:00:00:00:09"}}"#,
        r#"[{"id": [{"type": "mac", "value": "52:54:00:00:00:09"}]}]"#,
    ] {
        let text = format!(
            r#"{{"lldp": {{"interface": [
                {{"swp1": {{"chassis": {id}, "port": {{"id": {{"type": "ifname", "value": "1"}}}}}}}},
                {{"swp2": {{"chassis": {{}}, "port": {{"id": {{"type": "ifname", "value": "1"}}}}}}}},
                {{"swp3": {{"chassis": {id}}}}}]}}}}"#
        );
        let (topology, _) = read_text("leaf1.json", &text);
        let links: Vec<String> = topology.links.iter().map(|link| link.ends[1].to_string()).collect();
        assert_eq!(links, ["52-54-00-00-00-09:1"]);
        let found = check(&topology, Path::new("."));
        let counted = found
            .iter()
            .find(|found| found.kind == "neighbor_without_name")
            .unwrap();
        assert_eq!(
            counted.message,
            "leaf1 has 2 neighbors that LLDP gives no name or port of, left out (the first at leaf1:swp2)"
        );
    }
}

/// A report of `SONiC`: its ports, the aliases of those of its neighbor, and their descriptions.
fn sonic(neighbor: &str, ports: &[(&str, &str, &str)]) -> String {
    let port = |(port, alias, description): &(&str, &str, &str)| {
        format!(
            r#"{{"{port}": {{"chassis": {{"{neighbor}": {{"id": {{"type": "mac", "value": "x"}}}}}},
            "port": {{"id": {{"type": "local", "value": "{alias}"}}, "descr": "{description}"}}}}}}"#
        )
    };
    let ports: Vec<String> = ports.iter().map(port).collect();
    format!(r#"{{"lldp": {{"interface": [{}]}}}}"#, ports.join(","))
}

#[test]
fn aliases_of_sonic_are_joined_by_what_both_reports_agree_on() {
    let joined = |leaf: &[(&str, &str, &str)], spine: &[(&str, &str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("leaf1.json"), sonic("spine1", leaf)).unwrap();
        fs::write(folder.path().join("spine1.json"), sonic("leaf1", spine)).unwrap();
        let (topology, _) = read(folder.path()).unwrap();
        let links = topology
            .links
            .iter()
            .map(|link| format!("{} {}", link.ends[0], link.ends[1]));
        (links.collect::<Vec<_>>(), check(&topology, Path::new(".")).len())
    };
    let both = |links: &[&str]| (links.iter().map(ToString::to_string).collect::<Vec<_>>(), 0);
    let (first, second) = ("leaf1:Ethernet0 spine1:Ethernet8", "leaf1:Ethernet4 spine1:Ethernet12");
    // One link, described by operators on both sides.
    let found = joined(&[("Ethernet0", "etp3", "to leaf1")], &[("Ethernet8", "etp1", "uplink")]);
    assert_eq!(found, both(&[first]));
    // One side has the names of the ports.
    let found = joined(
        &[("Ethernet0", "etp3", "Ethernet8"), ("Ethernet4", "etp4", "Ethernet12")],
        &[("Ethernet8", "etp1", "a"), ("Ethernet12", "etp2", "b")],
    );
    assert_eq!(found, both(&[first, second]));
    // Neither has, but ports and aliases count up together; 12 is behind 8.
    let found = joined(
        &[("Ethernet0", "etp3", "a"), ("Ethernet4", "etp4", "b")],
        &[("Ethernet12", "etp2", "c"), ("Ethernet8", "etp1", "d")],
    );
    assert_eq!(found, both(&[first, second]));
    // Where the orders contradict each other, nothing is joined.
    let (links, contradictions) = joined(
        &[("Ethernet0", "etp4", "a"), ("Ethernet4", "etp3", "b")],
        &[("Ethernet8", "etp1", "c"), ("Ethernet12", "etp2", "d")],
    );
    assert!(links.len() == 4 && contradictions > 0, "{links:?}");
}

/// A file that is not named as the neighbors name its node: two nodes, and a hint.
#[test]
fn files_that_are_named_otherwise_than_their_nodes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let far = SEVERAL.replace("\"leaf2\"", "\"leaf2.dc.example\"");
    for (name, text) in [("leaf1", ONE), ("spine1", &*far), ("leaf2", JSON0)] {
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let (topology, _) = read(folder.path()).unwrap();
    let found = check(&topology, Path::new("."));
    let alike: Vec<&str> = found
        .iter()
        .filter(|found| found.kind == "names_alike")
        .map(|found| &*found.message)
        .collect();
    let expected = "spine1:swp4 sees leaf2.dc.example, and leaf2.json is the report of leaf2: if they are one node, name the \
                    file leaf2.dc.example.json";
    assert_eq!(alike, [expected]);
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
    let attachments = learnt.attachments();
    for (nic, leaf) in [("10.0.0.0", "10.0.0.1"), ("10.0.0.2", "10.0.0.3")] {
        assert_eq!(attachments.switch(nic.parse().unwrap()), Some(leaf));
        assert_eq!(attachments.ways(leaf), 1);
    }
}

#[test]
fn links_at_management_ports_are_left_out_unless_they_are_kept() {
    let neighbor = |port: &str, node: &str, far: &str| {
        format!(
            r#"{{"{port}": {{"chassis": {{"{node}": {{"id": {{"type": "mac", "value": "x"}}}}}},
                "port": {{"id": {{"type": "ifname", "value": "{far}"}}}}}}}}"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let reports = [
        (
            "leaf1",
            vec![
                neighbor("swp1", "spine1", "swp1"),
                neighbor("eth0", "oob1", "swp1"),
                neighbor("swp9", "h0", "eth1"),
            ],
        ),
        (
            "spine1",
            vec![neighbor("swp1", "leaf1", "swp1"), neighbor("eth0", "oob1", "swp2")],
        ),
        // The management port of a host has any name: its switch is known by the others.
        (
            "h0",
            vec![neighbor("eth0", "oob1", "swp3"), neighbor("eth1", "leaf1", "swp9")],
        ),
        (
            "oob1",
            vec![
                neighbor("swp1", "leaf1", "eth0"),
                neighbor("swp48", "core1", "ge-0/0/1"),
            ],
        ),
    ];
    for (name, neighbors) in &reports {
        let text = format!(r#"{{"lldp": {{"interface": [{}]}}}}"#, neighbors.join(","));
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let (mut topology, _) = read(folder.path()).unwrap();
    let expected = "h0 host name\nleaf1 leaf links\nspine1 spine links\nh0:eth1 leaf1:swp9\nleaf1:swp1 spine1:swp1";
    assert_eq!(summary(&topology), expected);
    assert_eq!((contradictions(&topology), topology.management.len()), (Vec::new(), 4));
    let mut chosen = topology.clone();
    topology.keep_management();
    assert_eq!((topology.links.len(), topology.nodes.len()), (6, 5));
    topology.leave_out(&["oob1:*".into()]).unwrap();
    assert_eq!(summary(&topology), expected);
    chosen.leave_out(&["leaf*:swp9".into()]).unwrap();
    assert_eq!((chosen.links.len(), chosen.nodes.len()), (1, 2));
    let error = chosen.leave_out(&["swp77".into()]).unwrap_err();
    assert_eq!(error, "no link is at a port that fits `swp77`");
}
