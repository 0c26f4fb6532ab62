//! The loopback tests of hosts: snapshots of screens, the metric, filters, sources without tests.

use super::Rig;
use super::mesh::compare;
use crate::pane::Pane;
use crate::view::Options;
use rocescope_diagnose::hostping::rows::{About, rows};
use rocescope_diagnose::hostping::{Judge, Matrix, Rule, topology};
use rocescope_lab::hostping::host::Host;
use rocescope_model::LoopbackRow;

const START: i64 = 1_767_225_600_000_000_000;

/// What a DGX A100 measures; without `slow` it is healthy.
fn tests(observer: &str, slow: Option<(&str, f64)>) -> Vec<LoopbackRow> {
    let tree = include_str!("../../../../diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml");
    let healthy = Host::healthy(topology::read(tree).unwrap());
    let matrix = |host: &Host| {
        let mut matrix = Matrix::default();
        for (nic, to, path) in host.paths.iter() {
            let (nic, to) = (&host.topology.nodes[*nic].name, &host.topology.nodes[*to].name);
            let cell = matrix.cell_mut(nic, to);
            cell.bandwidth_gbps = Some(host.bandwidth(path));
            cell.latency_us = Some(Host::base_us(path));
        }
        matrix
    };
    let baseline = matrix(&healthy);
    let host = match slow {
        None => healthy,
        Some((name, share)) => {
            let link = (0..healthy.capacity.len()).find(|link| healthy.topology.ends(*link).0 == name);
            healthy.with(link.unwrap(), share)
        }
    };
    let judge = Judge {
        topology: &host.topology,
        baseline: Some(&baseline),
        rule: Rule::SEED,
        busy: &[],
        loads: &[],
    };
    let measured = matrix(&host);
    let about = About {
        observer,
        start_ns: START,
        length_ns: 4_000_000_000,
        loads: &[],
    };
    rows(&host.topology, &measured, &judge.diagnose(&measured).judgement, &about)
}

fn rig(width: u16, height: u16) -> Rig {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(width, height, options);
    rig.view.replace(Vec::new());
    rig.view.turn_to_pane(Pane::Inside);
    let mut all = tests("h1", Some(("PCIe switch 0", 0.06)));
    all.extend(tests("h2", None));
    rig.view.loopback(all);
    rig
}

#[test]
fn screens_match_their_snapshots() {
    compare("inside-80x24.txt", &mut rig(80, 24));
    compare("inside-120x40.txt", &mut rig(120, 40));
}

#[test]
fn slow_tests_are_marked_and_the_selected_host_has_its_verdicts() {
    let mut rig = rig(120, 40);
    rig.shows(&[
        "9 Inside 80",
        "2 hosts  1 with an abnormal link  14 of 80 tests abnormal",
        "!12.0",
        "h1 mlx5_0 to mem0: abnormal; 12.0 Gbit/s, baseline 197.0 Gbit/s, abnormal below 157.6 Gbit/s; 2.50 us",
        "h1: CPU root port failure (likely): PCIe switch 0 <-> CPU root port 0",
        "threshold: 80 % of the baseline",
    ]);
    // The last test is one of the healthy host.
    rig.press("end");
    rig.shows(&["h2 mlx5_3 to GPU7: normal", "h2: no abnormal links found"]);
    rig.view.sort(Pane::Inside, "latency_ns").unwrap();
    rig.shows(&["2.50", "3.60"]);
    rig.view.set_filter("observer = h2").unwrap();
    rig.shows(&["9 Inside 40 of 80", "h2/mlx5_0"]);
}

#[test]
fn a_source_without_tests_says_so_and_a_frozen_screen_keeps_them() {
    let mut rig = Rig::new(120, 40, Options::default());
    rig.press("9");
    rig.shows(&["no loopback tests at this time"]);
    let why = "this dataset has no loopback tests: `rocescope hostping run --out` writes them";
    rig.view.header().no_loopback = Some(why.into());
    rig.shows(&[why]);
    rig.view.loopback(tests("h1", Some(("PCIe switch 0", 0.06))));
    rig.press("1");
    rig.shows(&["hosts with abnormal links 1"]);
    rig.press("9 f");
    rig.view.loopback(Vec::new());
    rig.shows(&["FROZEN", "!12.0"]);
}
