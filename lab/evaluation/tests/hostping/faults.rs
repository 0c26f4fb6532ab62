//! Faults of links of a simulated DGX A100. The figures of docs/bench/hostping.md come from here:
//! `cargo nextest run -p rocescope-lab --no-capture -E 'test(faults)'`.

use super::simulated::{Simulate, healthy, hosts};
use rocescope_diagnose::hostping::{Diagnosis, Inference};
use rocescope_fabric::random::Draws;
use rocescope_lab::hostping::host::Host;

/// What the faulty link still carries, as a share of the NICs' rate.
const SHARES: [f64; 10] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75];
const NOISE: f64 = 0.01;

/// The bandwidths of all tests without noise, in Gbit/s.
fn values(host: &Host) -> Vec<f64> {
    host.paths.iter().map(|(.., path)| host.bandwidth(path)).collect()
}

/// Whether a fault lowers a test below 80 %.
fn is_visible(healthy: &[f64], values: &[f64]) -> bool {
    healthy
        .iter()
        .zip(values)
        .any(|(healthy, value)| *value < healthy * 0.8)
}

fn accused(inference: &Inference) -> Vec<usize> {
    inference
        .abnormal
        .iter()
        .chain(inference.ambiguous.iter().flatten())
        .copied()
        .collect()
}

#[test]
fn each_single_fault_is_found_where_it_can_be_told_apart() {
    for (name, host) in hosts() {
        let mut draws = Draws::new(1);
        let baseline = host.baseline(9, NOISE, &mut draws);
        let healthy = values(&host);
        for baseline in [Some(&baseline), None] {
            let (mut identified, mut ambiguous, mut invisible) = (0, 0, 0);
            for share in SHARES {
                let all: Vec<Vec<f64>> = (0..host.capacity.len())
                    .map(|link| values(&host.with(link, share)))
                    .collect();
                for (link, of_link) in all.iter().enumerate() {
                    let sick = host.with(link, share);
                    let diagnosis = sick.judge(baseline).diagnose(&sick.run(NOISE, &mut draws));
                    let inference = &diagnosis.inference;
                    let ends = host.topology.ends(link);
                    if !is_visible(&healthy, of_link) {
                        assert!(accused(inference).is_empty(), "{name} {ends:?} {share}: {inference:?}");
                        invisible += 1;
                    } else if all
                        .iter()
                        .enumerate()
                        .any(|(other, values)| other != link && values == of_link)
                    {
                        let holds = inference.ambiguous.iter().any(|set| set.contains(&link));
                        assert!(holds, "{name} {ends:?} {share}: {inference:?}");
                        ambiguous += 1;
                    } else {
                        assert_eq!(inference.abnormal, [link], "{name} {ends:?} {share}: {inference:?}");
                        assert!(inference.ambiguous.is_empty(), "{name} {ends:?} {share}");
                        identified += 1;
                    }
                }
            }
            let with = if baseline.is_some() { "baseline" } else { "no baseline" };
            println!(
                "{name}, {with}: {identified} identified, {ambiguous} in the ambiguous set, {invisible} invisible"
            );
            assert!(identified > 150, "{identified}");
        }
    }
}

/// A host whose NIC and GPU are alone at their root ports has links that no test can tell apart.
#[test]
fn links_that_no_test_tells_apart_are_one_set() {
    let chain = r#"<system version="1">
  <cpu numaid="0"><pci busid="0000:01:00.0" class="0x060400"><pci busid="0000:02:00.0" class="0x060400">
    <pci busid="0000:03:00.0" class="0x020700"><nic><net name="mlx5_0" speed="200000"/></nic></pci>
  </pci></pci></cpu>
  <cpu numaid="1"/></system>"#;
    let host = healthy(chain);
    let nic_links: Vec<usize> = host.paths[0].2.links.clone();
    for share in SHARES {
        for (link, _) in host
            .capacity
            .iter()
            .enumerate()
            .filter(|(link, _)| nic_links[..3].contains(link))
        {
            let sick = host.with(link, share);
            let diagnosis = sick.judge(None).diagnose(&sick.run(0.0, &mut Draws::new(1)));
            assert!(diagnosis.inference.abnormal.is_empty());
            assert_eq!(diagnosis.inference.ambiguous.len(), 1, "{:?}", diagnosis.inference);
            assert!(diagnosis.inference.ambiguous[0].contains(&link));
            assert_eq!(diagnosis.causes.len(), diagnosis.inference.ambiguous[0].len());
        }
    }
}

/// Counts of a diagnosis of several faults.
#[derive(Default)]
struct Score {
    faults: usize,
    found: usize,
    in_set: usize,
    reported: usize,
    exact: usize,
    cases: usize,
}

impl Score {
    fn add(&mut self, diagnosis: &Diagnosis, faults: &[usize]) {
        let inference = &diagnosis.inference;
        self.cases += 1;
        self.faults += faults.len();
        self.reported += inference.abnormal.len();
        self.found += faults.iter().filter(|fault| inference.abnormal.contains(fault)).count();
        let in_set = |fault: &&usize| inference.ambiguous.iter().any(|set| set.contains(fault));
        self.in_set += faults.iter().filter(in_set).count();
        self.exact += usize::from(inference.abnormal == faults && inference.ambiguous.is_empty());
    }

    fn precision(&self) -> f64 {
        self.found as f64 / self.reported as f64
    }

    fn recall(&self) -> f64 {
        self.found as f64 / self.faults as f64
    }
}

/// A fault that another one hides changes no test, so that no method finds it: those are counted apart.
#[test]
fn pairs_of_faults_are_found_unless_one_hides_the_other() {
    for (name, host) in hosts() {
        let mut draws = Draws::new(2);
        let baseline = host.baseline(9, NOISE, &mut draws);
        for (first, second) in [(0.05, 0.05), (0.05, 0.3), (0.3, 0.3), (0.3, 0.6)] {
            let mut score = Score::default();
            let mut hidden = 0;
            let alone = |share| {
                (0..host.capacity.len())
                    .map(|link| values(&host.with(link, share)))
                    .collect()
            };
            let alone: [Vec<Vec<f64>>; 2] = [alone(first), alone(second)];
            for a in 0..host.capacity.len() {
                for b in 0..host.capacity.len() {
                    // With equal severities, each pair once.
                    if a == b || (a > b && first == second) {
                        continue;
                    }
                    let sick = host.with(a, first).with(b, second);
                    let both = values(&sick);
                    if both == alone[0][a] || both == alone[1][b] {
                        hidden += 1;
                        continue;
                    }
                    let diagnosis = sick.judge(Some(&baseline)).diagnose(&sick.run(NOISE, &mut draws));
                    score.add(&diagnosis, &[a.min(b), a.max(b)]);
                }
            }
            println!(
                "{name}, {:.0} % and {:.0} %: {} pairs, precision {:.1} %, recall {:.1} %, with sets {:.1} %, exact {:.1} %; {hidden} pairs hidden",
                first * 100.0,
                second * 100.0,
                score.cases,
                score.precision() * 100.0,
                score.recall() * 100.0,
                (score.found + score.in_set) as f64 / score.faults as f64 * 100.0,
                score.exact as f64 / score.cases as f64 * 100.0,
            );
            assert!(
                score.precision() > 0.9 && score.recall() > 0.8,
                "{name} {first} {second}"
            );
        }
    }
}

#[test]
fn a_thousand_healthy_runs_with_noise_raise_no_alarm() {
    for (name, host) in hosts() {
        let mut draws = Draws::new(3);
        let baseline = host.baseline(9, 0.05, &mut draws);
        for baseline in [Some(&baseline), None] {
            let mut alarms = 0;
            let mut abnormal_tests = 0;
            for _ in 0..1_000 {
                let diagnosis = host.judge(baseline).diagnose(&host.run(0.05, &mut draws));
                alarms += usize::from(!accused(&diagnosis.inference).is_empty());
                abnormal_tests += diagnosis.inference.unexplained.len();
            }
            let with = if baseline.is_some() { "baseline" } else { "no baseline" };
            println!(
                "{name}, {with}: {alarms} alarms in 1,000 healthy runs, {abnormal_tests} slow tests that no link explains"
            );
            assert_eq!(alarms, 0, "{name}, {with}");
        }
    }
}
