//! What the agents of a small fabric send while two things fail: the rows of `examples/fabric`.

use crate::hosts;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, NodeId, Rails, Topology};
use rocescope_model::{CounterRow, PathRow, ProbeRow};

/// 2026-01-01, as for generated captures.
const START_NS: i64 = 1_767_225_600_000_000_000;
const SECOND: i64 = 1_000_000_000;
/// Length of the record, and when the link begins to lose packets.
const LENGTH_NS: i64 = 60 * SECOND;
const FAULT_NS: i64 = START_NS + 20 * SECOND;

/// The counters of five hosts, one of which has a damaged cable.
#[must_use]
pub fn counters() -> Vec<CounterRow> {
    hosts::damaged_cable()
}

/// Four hosts with three NICs each, below three rail switches and four spines.
#[must_use]
pub fn topology() -> Topology {
    Rails::two_tiers(4, 3, 4).build().unwrap()
}

/// Paths and probes of all NICs. A link from a rail switch to a spine loses a tenth of its packets.
#[must_use]
pub fn mesh() -> (Vec<PathRow>, Vec<ProbeRow>) {
    let topology = topology();
    let mut fabric = Fabric::new(topology, 1);
    let node = |name: &str| {
        let mut nodes = (0..topology.nodes()).map(NodeId);
        nodes.find(|node| topology.name(*node) == name).unwrap()
    };
    let link = topology.between(node("r1"), node("s2")).unwrap();
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.1 },
        place: FaultLocation::Direction(LinkDirection { link, up: true }),
        from_ns: FAULT_NS,
        until_ns: i64::MAX,
    });
    let mesh = Mesh {
        interval_ns: 2 * Mesh::default().interval_ns,
        ..Mesh::default()
    };
    let names = Names::new(&fabric);
    let (mut paths, mut probes) = (Vec::new(), Vec::new());
    mesh.paths(&fabric, START_NS, |tuple, hops| {
        paths.extend(names.path(&fabric, tuple, START_NS, &hops));
    });
    mesh.probes(&fabric, START_NS, START_NS + LENGTH_NS, |probe| {
        probes.push(names.probe(&fabric, &mesh, &probe));
    });
    (paths, probes)
}
