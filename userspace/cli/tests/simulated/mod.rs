//! Datasets of a simulated fabric with a known fault, for the tests of every command that shows probes.

use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, FiveTuple, Rails, Role};
use rocescope_model::{FlowRow, PROBE_TABLES, PathRow, Text, Time};
use rocescope_store::{Options, Writer};
use rocescope_testkit::{run_in, text};
use std::path::Path;
use std::time::Instant;

const WINDOW: i64 = 20_000_000_000;
/// Forty seconds before an hour begins: the windows are in two partitions.
const START: i64 = 1_795_201_160_000_000_000;

/// Writes a dataset of four hosts of four NICs, two spines and six windows; from the third window on the link from rail
/// switch 1 to spine 0 loses a fifth. A mirror saw three flows in a minute that began one window before: one to another host over
/// that link, which its agent traces and which is returned as printed, one that was never traced, and a probe over that link.
pub(crate) fn dataset(root: &Path) -> (Fabric, String) {
    let mut fabric = Fabric::new(Rails::two_tiers(4, 4, 2).build().unwrap(), 3);
    let topology = fabric.topology;
    let leaf = topology.node(Role::Rail { group: 0, rail: 1 });
    let link = topology.between(leaf, topology.node(Role::Spine(0))).unwrap();
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.2 },
        place: FaultLocation::Direction(rocescope_fabric::LinkDirection { link, up: true }),
        from_ns: START + 2 * WINDOW,
        until_ns: i64::MAX,
    });
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let is_over = |tuple: &FiveTuple| {
        let route = fabric.route(*tuple, START);
        route.ways().iter().any(|way| way.link == link && way.up)
    };
    let to_another_host = (50_000..).map(|udp_src_port| FiveTuple {
        src: topology.nic(0, 1),
        dst: topology.nic(1, 0),
        udp_src_port,
        udp_dst_port: 4791,
    });
    let tuple = to_another_host.into_iter().find(is_over).unwrap();
    let (mut probes, mut paths, mut probe) = (Vec::new(), Vec::new(), None);
    for at in (0..6).map(|window| START + window * WINDOW) {
        mesh.paths(&fabric, at, |tuple, hops| {
            probe = probe.or(is_over(&tuple).then_some(tuple));
            paths.extend(names.path(&fabric, tuple, at, &hops));
        });
        let traced = names.path(&fabric, tuple, at, &fabric.trace(tuple, at));
        paths.extend(traced.into_iter().map(|row| PathRow {
            dst_nic: Text::default(),
            ..row
        }));
        mesh.probes(&fabric, at, at + WINDOW, |probe| {
            probes.push(names.probe(&fabric, &mesh, &probe));
        });
    }
    let options = Options {
        tables: PROBE_TABLES,
        ..Options::new("agents")
    };
    let mut writer = Writer::create(root, options).unwrap();
    writer.append_cells(&probes, Instant::now()).unwrap();
    writer.append_cells(&paths, Instant::now()).unwrap();
    writer.finish().unwrap();
    let at = Time(START + WINDOW);
    let flow = FlowRow {
        window_start: at,
        window_start_ns: at.0,
        window_ns: 3 * WINDOW,
        src: topology.nic_address(tuple.src),
        dst: topology.nic_address(tuple.dst),
        udp_src_port: Some(tuple.udp_src_port),
        ..FlowRow::default()
    };
    let other = FlowRow {
        udp_src_port: Some(1),
        ..flow.clone()
    };
    let probe = probe.unwrap();
    let probe = FlowRow {
        src: topology.nic_address(probe.src),
        dst: topology.nic_address(probe.dst),
        udp_src_port: Some(probe.udp_src_port),
        ..flow.clone()
    };
    let printed = format!("{}>{}:{}", flow.src, flow.dst, tuple.udp_src_port);
    let mut writer = Writer::create(root, Options::new("mirror")).unwrap();
    writer.append_cells(&vec![flow, other, probe], Instant::now()).unwrap();
    writer.finish().unwrap();
    (fabric, printed)
}

/// Runs `rocescope` to analyse the dataset of this name in the folder, with the names of the fabric.
pub(crate) fn analyse(fabric: &Fabric, folder: &Path, name: &str) {
    std::fs::write(folder.join("fabric.toml"), fabric.topology.to_toml()).unwrap();
    let arguments = ["diagnose", "hostmesh", name, "--write", "--topology", "fabric.toml"];
    text(&run_in(&arguments, folder));
}
