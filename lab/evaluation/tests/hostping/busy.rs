//! Busy hosts: NICs with traffic, and one overloaded link.

use super::simulated::{Simulate, hosts, normal};
use rocescope_diagnose::hostping::topology::{LinkKind, NodeKind};
use rocescope_diagnose::hostping::{Cause, Judge, Matrix, NicLoad, Rule};
use rocescope_fabric::random::Draws;
use rocescope_lab::hostping::host::Host;

const HOSTS: u64 = 1_000;

/// Traffic of applications: each NIC writes to an endpoint at a random share of its rate.
struct Traffic {
    /// Load of each link, in Gbit/s.
    load: Vec<f64>,
    /// What the counters of each NIC show.
    loads: Vec<NicLoad>,
}

impl Traffic {
    fn random(host: &Host, draws: &mut Draws) -> Self {
        let mut load = vec![0.0; host.capacity.len()];
        let mut loads = Vec::new();
        let paths = &host.paths;
        for nic in host.topology.of_kind(NodeKind::Nic) {
            let own: Vec<_> = paths.iter().filter(|(of, ..)| *of == nic).collect();
            // Applications choose GPUs and memory that are near.
            let near: Vec<_> = own.iter().filter(|(.., path)| path.reach.is_direct()).collect();
            let (.., path) = near[draws.below(u32::try_from(near.len()).unwrap()) as usize];
            let rate = host.bandwidth(path) * (0.1 + 0.6 * draws.unit());
            for link in &path.links {
                load[*link] += rate;
            }
            loads.push(NicLoad {
                nic,
                sent_gbps: rate * 0.1,
                received_gbps: rate,
            });
        }
        Self { load, loads }
    }

    /// What a test gets beside the traffic: what is left of each link, at least half of it.
    fn run(&self, host: &Host, draws: &mut Draws) -> Matrix {
        let mut matrix = Matrix::default();
        for (nic, to, path) in host.paths.iter() {
            let left = |link: &usize| (host.capacity[*link] - self.load[*link]).max(host.capacity[*link] / 2.0);
            let beside = path.links.iter().map(left).fold(host.bandwidth(path), f64::min);
            let names = (&host.topology.nodes[*nic].name, &host.topology.nodes[*to].name);
            matrix.cell_mut(names.0, names.1).bandwidth_gbps = Some(beside * (1.0 + 0.02 * normal(draws)));
        }
        matrix
    }
}

/// Whether the tests of some NIC cross a link on some paths and not on others: a link on all paths of a NIC lowers all of
/// its tests alike, and no comparison among them shows it.
fn is_on_some_paths(host: &Host, link: usize) -> bool {
    let crosses = |nic: usize| {
        let own = host.paths.iter().filter(|(of, ..)| *of == nic);
        let crossing = own.clone().filter(|(.., path)| path.links.contains(&link)).count();
        (1..own.count()).contains(&crossing)
    };
    host.topology.of_kind(NodeKind::Nic).any(crosses)
}

/// Plants a slow link in busy hosts, one of these in each; returns in how many it is alone in the first place.
fn first_and_alone(host: &Host, planted: &[usize], has_counters: bool) -> u64 {
    let busy: Vec<usize> = host.topology.of_kind(NodeKind::Nic).collect();
    let baseline = host.baseline(9, 0.02, &mut Draws::new(4));
    let mut first = 0;
    for seed in 0..HOSTS {
        let mut draws = Draws::new(1_000 + seed);
        let link = planted[draws.below(u32::try_from(planted.len()).unwrap()) as usize];
        let sick = host.with(link, 0.02 + 0.18 * draws.unit());
        let traffic = Traffic::random(&sick, &mut draws);
        let judge = Judge {
            topology: &sick.topology,
            baseline: Some(&baseline),
            rule: Rule::SEED,
            busy: &busy,
            loads: if has_counters { &traffic.loads } else { &[] },
        };
        let diagnosis = judge.diagnose(&traffic.run(&sick, &mut draws));
        assert!(diagnosis.is_busy && diagnosis.judgement.threshold.contains("compared with each other"));
        if diagnosis.inference.abnormal == [link] {
            first += 1;
            let is_upi = sick.topology.links[link].kind == LinkKind::InterSocket;
            let cause = if is_upi { Cause::InterSocketLoad } else { Cause::Load };
            assert_eq!(diagnosis.causes[0].cause, cause);
        } else if !is_on_some_paths(host, link) && !has_counters {
            assert!(
                diagnosis.unseen.contains(&link),
                "{seed} {:?}",
                host.topology.ends(link)
            );
        }
    }
    first
}

#[test]
fn the_overloaded_link_of_a_busy_host_is_ranked_first() {
    for (name, host) in hosts() {
        let planted: Vec<usize> = (0..host.capacity.len())
            .filter(|link| is_on_some_paths(&host, *link))
            .collect();
        let first = first_and_alone(&host, &planted, false);
        println!(
            "{name}: {} of {} links differ from the NICs' own: alone in the first place on {first} of {HOSTS} hosts",
            planted.len(),
            host.capacity.len()
        );
        assert!(first * 100 >= HOSTS * 95, "{name}: {first}");
    }
}

/// With the counters of the NICs, a slow link on all paths of a NIC is found too: what the NIC carries does not explain
/// that its tests are slow.
#[test]
fn with_counters_every_overloaded_link_of_a_busy_host_is_ranked_first() {
    for (name, host) in hosts() {
        let all: Vec<usize> = (0..host.capacity.len()).collect();
        let first = first_and_alone(&host, &all, true);
        println!("{name}, with counters: any link: alone in the first place on {first} of {HOSTS} hosts");
        assert!(first * 100 >= HOSTS * 95, "{name}: {first}");
    }
}

/// Without counters, those links are named as the ones that the tests cannot show.
#[test]
fn links_that_busy_tests_cannot_show_are_named() {
    for (name, host) in hosts() {
        let unseen: Vec<usize> = (0..host.capacity.len())
            .filter(|link| !is_on_some_paths(&host, *link))
            .collect();
        println!("{name}: {} links are on all paths of a NIC", unseen.len());
        first_and_alone(&host, &unseen, false);
        // Healthy hosts with traffic: with counters no alarm, without them the same links are named.
        let busy: Vec<usize> = host.topology.of_kind(NodeKind::Nic).collect();
        let baseline = host.baseline(9, 0.02, &mut Draws::new(4));
        for seed in 0..HOSTS {
            let mut draws = Draws::new(5_000 + seed);
            let traffic = Traffic::random(&host, &mut draws);
            let measured = traffic.run(&host, &mut draws);
            let judge = |loads| Judge {
                topology: &host.topology,
                baseline: Some(&baseline),
                rule: Rule::SEED,
                busy: &busy,
                loads,
            };
            assert_eq!(judge(&[]).diagnose(&measured).unseen, unseen, "{name} {seed}");
            let counted = judge(&traffic.loads).diagnose(&measured);
            assert!(counted.unseen.is_empty());
            let accused = |link: &usize| counted.inference.abnormal.contains(link);
            assert!(!unseen.iter().any(accused), "{name} {seed}: {:?}", counted.inference);
        }
    }
}

/// The verdict has what the accused link carried besides the tests, where counters show it.
#[test]
fn a_verdict_has_the_utilization_of_its_link() {
    let (_, host) = &hosts()[0];
    let nics: Vec<usize> = host.topology.of_kind(NodeKind::Nic).collect();
    let loads: Vec<NicLoad> = nics
        .iter()
        .map(|nic| NicLoad {
            nic: *nic,
            sent_gbps: 63.0,
            received_gbps: 0.0,
        })
        .collect();
    let baseline = host.baseline(1, 0.0, &mut Draws::new(1));
    let said = |kind: LinkKind, loads: &[NicLoad]| {
        let link = host.topology.links.iter().position(|link| link.kind == kind).unwrap();
        let sick = host.with(link, 0.1);
        let judge = Judge {
            topology: &sick.topology,
            baseline: Some(&baseline),
            rule: Rule::SEED,
            busy: &[],
            loads,
        };
        let diagnosis = judge.diagnose(&sick.run(0.0, &mut Draws::new(1)));
        let cause = diagnosis.causes.first().unwrap().clone();
        (cause.evidence, cause.utilization.map(|utilization| utilization.gbps))
    };
    let (evidence, gbps) = said(LinkKind::Nic, &loads);
    assert!(
        evidence.ends_with("besides the tests it carried 63.0 Gbit/s (25 % of it)"),
        "{evidence}"
    );
    assert_eq!(gbps, Some(63.0));
    let (evidence, _) = said(LinkKind::RootPort, &loads);
    assert!(evidence.contains("it carried at most 63.0 Gbit/s"), "{evidence}");
    for (kind, loads) in [(LinkKind::InterSocket, &loads[..]), (LinkKind::Nic, &[])] {
        let (evidence, gbps) = said(kind, loads);
        assert!(gbps.is_none() && !evidence.contains("besides"), "{evidence}");
    }
}

/// Idle NICs of a busy host are compared with the baseline, and clear links.
#[test]
fn idle_nics_beside_busy_ones_clear_links() {
    let (_, host) = &hosts()[0];
    let baseline = host.baseline(9, 0.0, &mut Draws::new(5));
    let busy = [host.topology.find("mlx5_0").unwrap()];
    let upi = (0..host.capacity.len())
        .find(|link| host.topology.links[*link].kind == LinkKind::InterSocket)
        .unwrap();
    let sick = host.with(upi, 0.1);
    let judge = Judge {
        topology: &sick.topology,
        baseline: Some(&baseline),
        rule: Rule::SEED,
        busy: &busy,
        loads: &[],
    };
    let diagnosis = judge.diagnose(&sick.run(0.0, &mut Draws::new(6)));
    assert_eq!(diagnosis.inference.abnormal, [upi]);
    let own = host.topology.find("mlx5_0").unwrap();
    assert!(
        diagnosis
            .ranking
            .iter()
            .all(|accused| host.topology.links[accused.link].a != own || accused.nics == 1)
    );
}
