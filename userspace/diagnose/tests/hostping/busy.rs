//! Busy hosts: NICs with traffic, and one overloaded link.

use super::simulated::{Host, hosts, normal};
use rocescope_diagnose::hostping::topology::{LinkKind, NodeKind};
use rocescope_diagnose::hostping::{Cause, Judge, Matrix, Rule};
use rocescope_fabric::random::Draws;

const HOSTS: u64 = 1_000;

/// Traffic of applications: each NIC writes to an endpoint at a random share of its rate.
struct Traffic {
    /// Load of each link, in Gbit/s.
    load: Vec<f64>,
}

impl Traffic {
    fn random(host: &Host, draws: &mut Draws) -> Self {
        let mut load = vec![0.0; host.capacity.len()];
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
        }
        Self { load }
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

#[test]
fn the_overloaded_link_of_a_busy_host_is_ranked_first() {
    for (name, host) in hosts() {
        let busy: Vec<usize> = host.topology.of_kind(NodeKind::Nic).collect();
        let baseline = host.baseline(9, 0.02, &mut Draws::new(4));
        // A link on every path of a NIC lowers all of its tests alike: no comparison among them shows it.
        let crosses = |nic: usize, link: usize| {
            let own = host.paths.iter().filter(|(of, ..)| *of == nic);
            let crossing = own.clone().filter(|(.., path)| path.links.contains(&link)).count();
            (1..own.count()).contains(&crossing)
        };
        let is_seen = |link: &usize| busy.iter().any(|nic| crosses(*nic, *link));
        let planted: Vec<usize> = (0..host.capacity.len()).filter(is_seen).collect();
        println!(
            "{name}: {} of {} links differ from the NICs' own",
            planted.len(),
            host.capacity.len()
        );
        let (mut first, mut tied) = (0, 0);
        for seed in 0..HOSTS {
            let mut draws = Draws::new(1_000 + seed);
            let link = planted[draws.below(u32::try_from(planted.len()).unwrap()) as usize];
            let sick = host.with(link, 0.02 + 0.18 * draws.unit());
            let judge = Judge {
                topology: &sick.topology,
                baseline: Some(&baseline),
                rule: Rule::SEED,
                busy: &busy,
            };
            let traffic = Traffic::random(&sick, &mut draws);
            let diagnosis = judge.diagnose(&traffic.run(&sick, &mut draws));
            assert!(diagnosis.is_busy && diagnosis.judgement.threshold.contains("compared with each other"));
            if diagnosis.inference.abnormal == [link] {
                first += 1;
                let is_upi = sick.topology.links[link].kind == LinkKind::InterSocket;
                let cause = if is_upi { Cause::InterSocketLoad } else { Cause::Load };
                assert_eq!(diagnosis.causes[0].cause, cause);
            } else if diagnosis.inference.ambiguous.iter().any(|set| set.contains(&link)) {
                tied += 1;
            }
        }
        println!("{name}: alone in the first place on {first} of {HOSTS} hosts, tied for it on {tied}");
        assert!(first * 100 >= HOSTS * 95, "{name}: {first}, {tied} tied");
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
