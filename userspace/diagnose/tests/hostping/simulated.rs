//! A host in numbers: what loopback tests measure if each link has a capacity.

use rocescope_diagnose::hostping::topology::{self, LinkKind, NodeKind, Path, Reach};
use rocescope_diagnose::hostping::{Judge, Matrix, Rule, Topology};
use rocescope_fabric::random::Draws;
use std::rc::Rc;

/// What a loopback test of a 200 Gbit/s NIC reaches.
pub(crate) const FULL: f64 = 197.0;

/// A host and the capacity of its links, in Gbit/s.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) topology: Topology,
    pub(crate) capacity: Vec<f64>,
    /// All pairs of a NIC and an endpoint, and the path between them.
    pub(crate) paths: Rc<Vec<(usize, usize, Path)>>,
}

impl Host {
    /// A healthy host with this topology.
    pub(crate) fn healthy(file: &str) -> Self {
        let topology = topology::read(file).unwrap();
        let capacity = topology.links.iter().map(|link| match link.kind {
            LinkKind::Memory => 1_200.0,
            LinkKind::InterSocket => 400.0,
            _ => 215.0,
        });
        let nics: Vec<usize> = topology.of_kind(NodeKind::Nic).collect();
        let pairs = nics
            .iter()
            .flat_map(|nic| topology.endpoints().into_iter().map(|to| (*nic, to)));
        let paths = pairs
            .map(|(nic, to)| (nic, to, topology.path(nic, to).unwrap()))
            .collect();
        Self {
            capacity: capacity.collect(),
            paths: Rc::new(paths),
            topology,
        }
    }

    /// The host with this capacity of a link, as a share of the NICs' rate.
    pub(crate) fn with(&self, link: usize, share: f64) -> Self {
        let mut host = self.clone();
        host.capacity[link] = share * 200.0;
        host
    }

    /// What a path carries without noise: peer-to-peer requests over a processor are slower, as on the slides.
    pub(crate) fn bandwidth(&self, path: &Path) -> f64 {
        let own = match path.reach {
            Reach::NearMemory | Reach::FarMemory => FULL,
            Reach::LocalGpu => 192.0,
            Reach::NearGpu => 92.0,
            Reach::FarGpu => 72.0,
        };
        path.links.iter().map(|link| self.capacity[*link]).fold(own, f64::min)
    }

    /// A run of all tests, with normally distributed noise.
    pub(crate) fn run(&self, noise: f64, draws: &mut Draws) -> Matrix {
        let mut matrix = Matrix::default();
        for (nic, to, path) in self.paths.iter() {
            let value = self.bandwidth(path) * (1.0 + noise * normal(draws));
            let names = (&self.topology.nodes[*nic].name, &self.topology.nodes[*to].name);
            matrix.cell_mut(names.0, names.1).bandwidth_gbps = Some(value.max(0.1));
        }
        matrix
    }

    /// A judge with the seed's threshold.
    pub(crate) fn judge<'a>(&'a self, baseline: Option<&'a Matrix>) -> Judge<'a> {
        Judge {
            topology: &self.topology,
            baseline,
            rule: Rule::SEED,
            busy: &[],
        }
    }

    /// The baseline: the median of healthy runs.
    pub(crate) fn baseline(&self, runs: usize, noise: f64, draws: &mut Draws) -> Matrix {
        let runs: Vec<Matrix> = (0..runs).map(|_| self.run(noise, draws)).collect();
        Matrix::median(&runs)
    }
}

/// A normally distributed number (Box and Muller).
pub(crate) fn normal(draws: &mut Draws) -> f64 {
    let (radius, angle) = (draws.unit(), draws.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// The hosts of the figures: a DGX A100 with 4 NICs, and one with 8 and switches in cascade.
pub(crate) fn hosts() -> [(&'static str, Host); 2] {
    [
        ("4 NICs", Host::healthy(include_str!("trees/dgx-a100-4.nccl.xml"))),
        ("8 NICs", Host::healthy(include_str!("trees/dgx-a100-8.nccl.xml"))),
    ]
}
