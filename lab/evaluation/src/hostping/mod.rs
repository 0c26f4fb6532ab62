//! Links inside a host: single faults of a simulated host, and the matrices of Hostping's slides.
//!
//! | module | what it holds |
//! |---|---|
//! | [`host`] | a host in numbers: what tests measure if each link has a capacity |
//! | `incidents` | the same faults, and what `diagnose` reports of them |
//! | [`loopback`] | loopback tests of it: a backend without hardware |

pub mod host;
pub(crate) mod incidents;
pub mod loopback;

use self::host::Host;
use crate::table::{Goal, Line, Size, percent};
use rocescope_diagnose::hostping::{Diagnosis, Judge, Matrix, Rule, measured, topology};
use rocescope_fabric::random::Draws;

/// The hosts of `docs/bench/hostping.md`.
const HOSTS: [&str; 2] = [
    include_str!("../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"),
    include_str!("../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-8.nccl.xml"),
];
/// What the faulty link still carries, as a share of the NICs' rate.
const SHARES: [f64; 10] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75];
const NOISE: f64 = 0.01;
/// Matrices, and the link that they show to be slow.
const SLIDES: [(&str, Option<(&str, &str)>); 3] = [
    (
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-healthy.txt"),
        None,
    ),
    (
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-root-port.txt"),
        Some(("PCIe switch 0", "CPU root port 0")),
    ),
    (
        include_str!("../../../../userspace/diagnose/tests/hostping/measured/slides-latency.txt"),
        None,
    ),
];

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let rounds = size.choose(1, 10);
    let mut draws = Draws::new(1);
    let (mut right, mut all, mut alarms) = (0, 0, 0.0);
    for tree in HOSTS {
        let host = Host::healthy(topology::read(tree).unwrap());
        for _ in 0..rounds {
            let healthy = diagnose(&host, &run(&host, &mut draws));
            alarms += (healthy.inference.abnormal.len() + healthy.inference.ambiguous.len()) as f64;
            for link in 0..host.capacity.len() {
                for share in SHARES {
                    let sick = host.with(link, share);
                    let found = diagnose(&host, &run(&sick, &mut draws)).inference;
                    right += u64::from(found.abnormal == [link] && found.ambiguous.is_empty());
                    all += 1;
                }
            }
        }
    }
    let slides = slides();
    vec![
        Line::new("slides", 3, "verdicts right, %", slides, Goal::AtLeast(100.0)),
        Line::new(
            "single faults",
            all,
            "exactly this link, %",
            percent(right, all),
            Goal::AtLeast(99.0),
        ),
        Line::new("healthy hosts", 2 * rounds, "links accused", alarms, Goal::AtMost(0.0)),
    ]
}

fn slides() -> f64 {
    let host = Host::healthy(topology::read(HOSTS[0]).unwrap());
    let right = SLIDES.iter().filter(|(matrix, link)| {
        let matrix = Matrix::of(&measured::read(matrix).unwrap(), &host.topology).unwrap();
        let found = diagnose(&host, &matrix).inference;
        let ends = found.abnormal.iter().map(|link| host.topology.ends(*link));
        found.ambiguous.is_empty() && ends.eq(link.iter().copied())
    });
    percent(right.count() as u64, SLIDES.len() as u64)
}

/// A run of all tests, with normally distributed noise (Box and Muller).
fn run(host: &Host, draws: &mut Draws) -> Matrix {
    let mut matrix = Matrix::default();
    for (nic, to, path) in host.paths.iter() {
        let (radius, angle) = (draws.unit(), draws.unit());
        let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        let value = host.bandwidth(path) * (1.0 + NOISE * normal);
        let names = (&host.topology.nodes[*nic].name, &host.topology.nodes[*to].name);
        matrix.cell_mut(names.0, names.1).bandwidth_gbps = Some(value.max(0.1));
    }
    matrix
}

/// Without a baseline, with the seed's threshold.
fn diagnose(host: &Host, matrix: &Matrix) -> Diagnosis {
    let judge = Judge {
        topology: &host.topology,
        baseline: None,
        rule: Rule::SEED,
        busy: &[],
        loads: &[],
    };
    judge.diagnose(matrix)
}
