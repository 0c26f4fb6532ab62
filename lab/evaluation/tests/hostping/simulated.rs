//! Runs of simulated hosts, with noise.

use rocescope_diagnose::hostping::{Judge, Matrix, Rule, topology};
use rocescope_fabric::random::Draws;
use rocescope_lab::hostping::host::Host;

/// A healthy host with this topology.
pub(crate) fn healthy(file: &str) -> Host {
    Host::healthy(topology::read(file).unwrap())
}

/// What tests use of a host.
pub(crate) trait Simulate {
    /// A run of all tests, with normally distributed noise.
    fn run(&self, noise: f64, draws: &mut Draws) -> Matrix;

    /// A judge with the seed's threshold.
    fn judge<'a>(&'a self, baseline: Option<&'a Matrix>) -> Judge<'a>;

    /// The baseline: the median of healthy runs.
    fn baseline(&self, runs: usize, noise: f64, draws: &mut Draws) -> Matrix;
}

impl Simulate for Host {
    fn run(&self, noise: f64, draws: &mut Draws) -> Matrix {
        let mut matrix = Matrix::default();
        for (nic, to, path) in self.paths.iter() {
            let value = self.bandwidth(path) * (1.0 + noise * normal(draws));
            let names = (&self.topology.nodes[*nic].name, &self.topology.nodes[*to].name);
            matrix.cell_mut(names.0, names.1).bandwidth_gbps = Some(value.max(0.1));
        }
        matrix
    }

    fn judge<'a>(&'a self, baseline: Option<&'a Matrix>) -> Judge<'a> {
        Judge {
            topology: &self.topology,
            baseline,
            rule: Rule::SEED,
            busy: &[],
            loads: &[],
        }
    }

    fn baseline(&self, runs: usize, noise: f64, draws: &mut Draws) -> Matrix {
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
        (
            "4 NICs",
            healthy(include_str!(
                "../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"
            )),
        ),
        (
            "8 NICs",
            healthy(include_str!(
                "../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-8.nccl.xml"
            )),
        ),
    ]
}
