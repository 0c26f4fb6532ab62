//! Thresholds: the seed's 80 %, SuperBench's 5 % below the baseline, Azure's figures.

use super::simulated::{Simulate, hosts};
use rocescope_diagnose::hostping::{Judge, Rule};
use rocescope_fabric::random::Draws;

#[test]
fn each_rule_draws_its_own_line() {
    let (_, host) = &hosts()[0];
    let baseline = host.baseline(1, 0.0, &mut Draws::new(1));
    let gpu = host
        .paths
        .iter()
        .find(|(_, _, path)| path.links.len() == 2)
        .unwrap()
        .2
        .links[1];
    // 170 of 192 Gbit/s: 88.5 %.
    let sick = host.with(gpu, 0.85);
    for (name, is_abnormal) in [
        ("seed", false),
        ("superbench", true),
        ("azure-a100", true),
        ("azure-v100", false),
        ("azure-h100", true),
    ] {
        let rule = Rule::of_name(name).unwrap();
        let judge = Judge {
            topology: &sick.topology,
            baseline: Some(&baseline),
            rule,
            busy: &[],
            loads: &[],
        };
        let diagnosis = judge.diagnose(&sick.run(0.0, &mut Draws::new(1)));
        let abnormal = diagnosis
            .judgement
            .tests
            .iter()
            .filter(|test| test.path.links == [test.path.links[0], gpu]);
        let mut abnormal = abnormal.filter(|test| test.status.name() == "abnormal");
        assert_eq!(abnormal.next().is_some(), is_abnormal, "{name}");
        assert!(
            diagnosis.judgement.threshold.contains(name),
            "{}",
            diagnosis.judgement.threshold
        );
    }
    assert_eq!(Rule::of_name("unknown"), None);
}

#[test]
fn a_baseline_is_the_median_of_healthy_runs() {
    let (_, host) = &hosts()[0];
    let mut draws = Draws::new(9);
    let mut runs: Vec<_> = (0..4).map(|_| host.run(0.01, &mut draws)).collect();
    // One of five hosts is broken: the median does not move.
    runs.push(host.with(0, 0.02).run(0.01, &mut draws));
    let baseline = rocescope_diagnose::hostping::Matrix::median(&runs);
    let exact = host.run(0.0, &mut draws);
    for (nic, to, cell) in baseline.cells() {
        let expected = exact.cell(nic, to).unwrap().bandwidth_gbps.unwrap();
        assert!(
            (cell.bandwidth_gbps.unwrap() / expected - 1.0).abs() < 0.03,
            "{nic} {to}"
        );
    }
}
