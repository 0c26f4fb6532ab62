//! The files of Hostping: topologies (XML of NCCL and hwloc, `nvidia-smi topo -m`) and measurements (matrices, perftest,
//! SuperBench).

use rocescope_diagnose::hostping::measured;
use rocescope_diagnose::hostping::topology::draw::draw;
use rocescope_diagnose::hostping::topology::{self, NodeKind, suspicions};
use rocescope_diagnose::hostping::{Document, Judge, Matrix, Refusal, Rule};

/// A file with more devices than any host only takes time: paths are searched from each NIC.
const MAX_NODES: usize = 400;

/// Input: a file, or a topology, a line `=====`, and measurements of it.
pub fn run(input: &[u8]) {
    let Ok(text) = core::str::from_utf8(input) else {
        return;
    };
    let (first, second) = text.split_once("\n=====\n").unwrap_or((text, text));
    let lines = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1);
    let check = |refusal: &Refusal, text: &str| {
        assert!(
            (1..=lines(text)).contains(&refusal.line),
            "{refusal} of {}",
            lines(text)
        );
        assert!(!refusal.message.is_empty());
    };
    let all = measured::read(second);
    match &all {
        Ok(all) => assert!(!all.is_empty()),
        Err(refusal) => check(refusal, second),
    }
    let topology = match topology::read(first) {
        Ok(topology) => topology,
        Err(refusal) => return check(&refusal, first),
    };
    if topology.nodes.len() > MAX_NODES {
        return;
    }
    assert!(!draw(&topology).is_empty() || topology.nodes.is_empty());
    let _ = suspicions(&topology);
    for nic in topology.of_kind(NodeKind::Nic) {
        let paths = topology.paths(nic);
        for path in topology.endpoints().into_iter().filter_map(|to| paths.to(to)) {
            assert_eq!(path.nodes.first(), Some(&nic));
            assert!(path.links.len() < path.nodes.len());
        }
    }
    let Some(matrix) = all.ok().and_then(|all| Matrix::of(&all, &topology).ok()) else {
        return;
    };
    let judge = Judge {
        topology: &topology,
        baseline: None,
        rule: Rule::SEED,
        busy: &[],
        loads: &[],
    };
    let diagnosis = judge.diagnose(&matrix);
    let links = 0..topology.links.len();
    let inference = &diagnosis.inference;
    for link in inference.abnormal.iter().chain(inference.ambiguous.iter().flatten()) {
        assert!(links.contains(link) && !inference.unproven.contains(link));
    }
    assert!(!Document::of(&topology, &matrix, &diagnosis).text(&matrix).is_empty());
}
