//! The matrices of Hostping's slides.

use super::simulated::{Simulate, healthy};
use rocescope_diagnose::hostping::rows::{About, Run, rows, runs};
use rocescope_diagnose::hostping::{Cause, Certainty, Judge, Matrix, Rule, Topology, measured, topology};
use rocescope_fabric::random::Draws;

fn dgx() -> Topology {
    topology::read(include_str!(
        "../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"
    ))
    .unwrap()
}

fn matrix(text: &str, topology: &Topology) -> Matrix {
    Matrix::of(&measured::read(text).unwrap(), topology).unwrap()
}

fn judge<'a>(topology: &'a Topology, baseline: Option<&'a Matrix>) -> Judge<'a> {
    Judge {
        topology,
        baseline,
        rule: Rule::SEED,
        busy: &[],
        loads: &[],
    }
}

#[test]
fn the_second_matrix_accuses_exactly_the_root_port_of_switch_0_and_the_first_nothing() {
    let topology = dgx();
    let healthy = matrix(
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-healthy.txt"),
        &topology,
    );
    let sick = matrix(
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-root-port.txt"),
        &topology,
    );
    // With the healthy matrix as the baseline, and without any.
    for baseline in [Some(&healthy), None] {
        let judge = judge(&topology, baseline);
        let diagnosis = judge.diagnose(&sick);
        let links: Vec<_> = diagnosis
            .inference
            .abnormal
            .iter()
            .map(|link| topology.ends(*link))
            .collect();
        assert_eq!(links, [("PCIe switch 0", "CPU root port 0")]);
        assert!(diagnosis.inference.ambiguous.is_empty() && diagnosis.inference.unexplained.is_empty());
        assert_eq!(diagnosis.causes.len(), 1);
        let cause = &diagnosis.causes[0];
        assert_eq!((cause.cause, cause.certainty), (Cause::RootPort, Certainty::Likely));
        assert!(
            diagnosis.judgement.threshold.contains("80 %"),
            "{}",
            diagnosis.judgement.threshold
        );

        let diagnosis = judge.diagnose(&healthy);
        assert!(diagnosis.inference.abnormal.is_empty() && diagnosis.inference.ambiguous.is_empty());
        assert!(diagnosis.inference.unproven.is_empty() && diagnosis.causes.is_empty());
    }
}

#[test]
fn the_latency_matrix_parses_and_accuses_nothing() {
    let topology = dgx();
    let latency = matrix(
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-latency.txt"),
        &topology,
    );
    assert_eq!(latency.cell("mlx5_0", "GPU4").unwrap().latency_us, Some(3.534));
    assert_eq!(latency.cells().count(), 40);
    let diagnosis = judge(&topology, None).diagnose(&latency);
    assert!(diagnosis.inference.abnormal.is_empty() && diagnosis.causes.is_empty());
}

/// ACS sends the requests between the NIC and the GPUs of a switch over the processor: as slow as GPUs elsewhere.
#[test]
fn slow_local_gpus_with_fast_memory_are_a_misconfiguration() {
    let mut topology = dgx();
    let healthy = matrix(
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-healthy.txt"),
        &topology,
    );
    let mut slow = healthy.clone();
    for nic in 0..4 {
        for gpu in [2 * nic, 2 * nic + 1] {
            slow.cell_mut(&format!("mlx5_{nic}"), &format!("GPU{gpu}"))
                .bandwidth_gbps = Some(90.0);
        }
    }
    for (is_virtual, cause) in [(Some(false), Cause::AcsOn), (Some(true), Cause::AtsOff)] {
        topology.is_virtual = is_virtual;
        let diagnosis = judge(&topology, Some(&healthy)).diagnose(&slow);
        assert_eq!(diagnosis.inference.abnormal.len(), 8);
        let first = &diagnosis.causes[0];
        assert_eq!(
            (first.cause, first.certainty, first.links.len()),
            (cause, Certainty::Likely, 8)
        );
        assert!(
            diagnosis.causes[1..]
                .iter()
                .all(|other| other.certainty == Certainty::Possible)
        );
    }
    // One GPU alone is a broken link.
    let mut one = healthy.clone();
    one.cell_mut("mlx5_0", "GPU0").bandwidth_gbps = Some(90.0);
    let diagnosis = judge(&topology, Some(&healthy)).diagnose(&one);
    assert_eq!(diagnosis.causes.len(), 1);
    assert_eq!(diagnosis.causes[0].cause, Cause::GpuLink);
}

#[test]
fn a_matrix_as_text_reads_back() {
    let topology = dgx();
    let healthy = matrix(
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-healthy.txt"),
        &topology,
    );
    let text = healthy.text(measured::Quantity::Bandwidth, |_, _| "");
    assert_eq!(matrix(&text, &topology), healthy);
}

/// The rows of a run hold what its diagnosis needs: paths, values, baseline.
#[test]
fn a_run_comes_back_from_its_rows_with_the_same_diagnosis() {
    for tree in [
        include_str!("../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"),
        include_str!("../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-8.nccl.xml"),
        include_str!("../../../../userspace/diagnose/tests/hostping/trees/amd-nps2.hwloc.xml"),
    ] {
        let host = healthy(tree);
        let baseline = host.baseline(1, 0.0, &mut Draws::new(1));
        for link in 0..host.capacity.len() {
            let sick = host.with(link, 0.1);
            let measured = sick.run(0.0, &mut Draws::new(1));
            let diagnosis = sick.judge(Some(&baseline)).diagnose(&measured);
            let about = About {
                observer: "h1",
                start_ns: 7,
                length_ns: 3,
                loads: &[],
            };
            let rows = rows(&sick.topology, &measured, &diagnosis.judgement, &about);
            let mut runs = runs(rows);
            assert_eq!((runs.len(), runs[0].0.as_str(), runs[0].1), (1, "h1", 7));
            let run = Run::of(&runs.remove(0).2);
            let again = judge(&run.topology, Some(&run.baseline)).diagnose(&run.measured);
            let ends = |topology: &Topology, links: &[usize]| {
                let mut ends: Vec<[String; 2]> = links
                    .iter()
                    .map(|link| <[&str; 2]>::from(topology.ends(*link)).map(str::to_owned))
                    .collect();
                ends.sort();
                ends
            };
            assert_eq!(
                ends(&run.topology, &again.inference.abnormal),
                ends(&sick.topology, &diagnosis.inference.abnormal)
            );
            assert_eq!(again.inference.ambiguous.len(), diagnosis.inference.ambiguous.len());
            let kinds = |diagnosis: &rocescope_diagnose::hostping::Diagnosis| {
                let mut kinds: Vec<&str> = diagnosis.causes.iter().map(|cause| cause.cause.name()).collect();
                kinds.sort_unstable();
                kinds
            };
            assert_eq!(kinds(&again), kinds(&diagnosis));
        }
    }
}
