//! What units and manifests grant is what the code asks for, and nothing else.
#![expect(clippy::unwrap_used, reason = "it is a test")]

use rocescope_host::privileges::{AF_PACKET, Capability, EVENTS, GRANTED, TRACE};
use std::collections::BTreeSet;

fn names(needed: &[&[Capability]]) -> BTreeSet<String> {
    needed
        .iter()
        .flat_map(|some| some.iter())
        .map(|one| one.name.to_uppercase())
        .collect()
}

/// The capabilities of a unit, which its two settings must name alike.
fn unit(text: &str) -> BTreeSet<String> {
    let [ambient, bounding] = ["AmbientCapabilities=", "CapabilityBoundingSet="].map(|key| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>()
    });
    assert_eq!(ambient, bounding);
    ambient
}

/// The capabilities below `add:` of a manifest that drops all others.
fn manifest(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| *line == "add:").unwrap();
    let added = lines[at + 1..].iter().map_while(|line| line.strip_prefix("- "));
    added.map(|name| format!("CAP_{name}")).collect()
}

fn drops_all(text: &str) -> bool {
    text.contains("drop:\n                - ALL\n") && text.contains("allowPrivilegeEscalation: false\n")
}

const AGENT: &str = include_str!("../../../deploy/kubernetes/base/agent.yaml");
const CAPTURE: &str = include_str!("../../../deploy/kubernetes/base/capture.yaml");
const COLLECTOR: &str = include_str!("../../../deploy/kubernetes/base/collector.yaml");

#[test]
fn an_agent_has_what_probes_need() {
    let needed = names(&[&AF_PACKET]);
    let service = include_str!("../../../deploy/mesh/rocescope-agent.service");
    assert_eq!(unit(service), needed);
    assert_eq!(manifest(AGENT), needed);
    assert!(drops_all(AGENT));
}

#[test]
fn queue_pairs_add_what_events_and_environments_need() {
    let added = names(&[&EVENTS, &[TRACE]]);
    let dropin = include_str!("../../../deploy/mesh/queue-pairs.conf");
    assert_eq!(unit(dropin), added);
    // A patch of Kubernetes replaces the list of its base.
    let patch = include_str!("../../../deploy/kubernetes/example/queue-pairs.yaml");
    assert_eq!(manifest(patch), names(&[&AF_PACKET, &EVENTS, &[TRACE]]));
}

#[test]
fn a_capture_has_what_xdp_and_packet_sockets_need() {
    assert_eq!(manifest(CAPTURE), names(&[&GRANTED]));
    assert!(drops_all(CAPTURE));
}

#[test]
fn a_collector_has_none() {
    assert!(!COLLECTOR.contains("add:") && drops_all(COLLECTOR));
    let service = include_str!("../../../deploy/mesh/rocescope-collector.service");
    assert!(service.contains("\nCapabilityBoundingSet=\n") && !service.contains("AmbientCapabilities"));
}
