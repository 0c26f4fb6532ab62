//! The rates of several places that are at fault together.
//!
//! Places lose probes independently, each at its own rate `r`. A probe that crosses several of them is lost with
//!
//! ```text
//! 1 - (1 - background) * product of (1 - r)
//! ```
//!
//! (Pearl's noisy-or). The rates of the greatest likelihood follow from expectation maximisation: a lost probe was lost
//! at a place with a probability of `r` over that of its loss, a probe that arrived was lost at none.

use super::count::Count;
use alloc::vec::Vec;

/// Probes that cross the same candidates: bit `i` is candidate `i`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) crossed: u64,
    pub(crate) count: Count,
}

/// Candidates with their rates, and how likely they make what was seen.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    /// The candidates, as bits.
    pub(crate) places: u64,
    rates: Vec<f64>,
    /// The logarithm of the likelihood.
    pub(crate) likelihood: f64,
}

/// Steps of the maximisation; it stops earlier when a step gains less than [`ENOUGH`].
const STEPS: usize = 60;
const ENOUGH: f64 = 1e-3;
/// Where everything is expected to be lost, or nothing, there is no variance.
const LEAST: f64 = 1e-9;

impl Fit {
    /// Fits the rates of the candidates in `places` to groups of probes.
    pub(crate) fn of(places: u64, groups: &[Group], candidates: usize, background: f64) -> Self {
        let mut sent = alloc::vec![0.0; candidates];
        let mut lost = alloc::vec![0.0; candidates];
        for group in groups {
            for at in bits(group.crossed & places) {
                sent[at] += float(group.count.probes);
                lost[at] += float(group.count.anomalous);
            }
        }
        let start = |at: usize| {
            if places >> at & 1 == 1 && sent[at] > 0.0 {
                lost[at] / sent[at]
            } else {
                0.0
            }
        };
        let mut fit = Self {
            places,
            rates: (0..candidates).map(start).collect(),
            likelihood: f64::NEG_INFINITY,
        };
        for _ in 0..STEPS {
            let likelihood = fit.likelihood(groups, background);
            let gained = likelihood - fit.likelihood;
            fit.likelihood = likelihood;
            if gained < ENOUGH {
                break;
            }
            fit.step(groups, &sent, background);
        }
        fit
    }

    /// The probability that a probe is lost.
    fn loss(&self, crossed: u64, background: f64) -> f64 {
        let arrives =
            bits(crossed & self.places).fold(1.0 - background, |arrives, at| arrives * (1.0 - self.rates[at]));
        1.0 - arrives
    }

    /// By how much the anomalous probes over a candidate exceed those that the fit expects, as a score: the bound of
    /// Chernoff for a sum of rare events. 0 without an excess.
    ///
    /// What is expected counts by its variance, so that probes that the fit explains entirely, over a place that loses all,
    /// do not hide the excess of others.
    pub(crate) fn unexplained(&self, at: usize, groups: &[Group], background: f64) -> f64 {
        let (mut variance, mut excess) = (0.0, 0.0);
        for group in groups.iter().filter(|group| group.crossed >> at & 1 == 1) {
            let (probes, loss) = (float(group.count.probes), self.loss(group.crossed, background));
            variance += probes * loss * (1.0 - loss);
            excess += float(group.count.anomalous) - probes * loss;
        }
        let variance = f64::max(variance, LEAST);
        match excess > 0.0 {
            true => (variance + excess) * libm::log((variance + excess) / variance) - excess,
            false => 0.0,
        }
    }

    fn likelihood(&self, groups: &[Group], background: f64) -> f64 {
        let of = |group: &Group| {
            let loss = self.loss(group.crossed, background);
            let (lost, arrived) = (group.count.anomalous, group.count.probes - group.count.anomalous);
            times_log(lost, loss) + times_log(arrived, 1.0 - loss)
        };
        groups.iter().map(of).sum()
    }

    fn step(&mut self, groups: &[Group], sent: &[f64], background: f64) {
        let mut blamed = alloc::vec![0.0; self.rates.len()];
        for group in groups.iter().filter(|group| group.count.anomalous > 0) {
            let loss = self.loss(group.crossed, background);
            for at in bits(group.crossed & self.places) {
                blamed[at] += float(group.count.anomalous) * self.rates[at] / loss;
            }
        }
        for at in bits(self.places) {
            self.rates[at] = if sent[at] > 0.0 {
                (blamed[at] / sent[at]).min(1.0)
            } else {
                0.0
            };
        }
    }
}

/// `n ln p`; 0 for no probes, whatever their probability.
fn times_log(n: u64, p: f64) -> f64 {
    match n {
        0 => 0.0,
        n => float(n) * libm::log(p.max(f64::MIN_POSITIVE)),
    }
}

/// The positions of the bits that are set.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let at = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            at as usize
        })
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::{Fit, Group, bits};
    use crate::hostmesh::count::Count;
    use std::vec::Vec;

    fn group(crossed: u64, probes: u64, anomalous: u64) -> Group {
        Group {
            crossed,
            count: Count { probes, anomalous },
        }
    }

    #[test]
    fn rates_of_places_that_share_probes_are_told_apart() {
        // 20 % at the first, half at the second: 60 % where both are crossed.
        let groups = [
            group(0b01, 10_000, 2_000),
            group(0b10, 10_000, 5_000),
            group(0b11, 10_000, 6_000),
            group(0, 10_000, 1),
        ];
        let fit = Fit::of(0b11, &groups, 2, 1e-4);
        assert!((fit.rates[0] - 0.2).abs() < 0.01, "{fit:?}");
        assert!((fit.rates[1] - 0.5).abs() < 0.01, "{fit:?}");
        // One place alone explains it worse.
        assert!(Fit::of(0b10, &groups, 2, 1e-4).likelihood < fit.likelihood - 1_000.0);
    }

    #[test]
    fn a_place_that_loses_everything_has_a_finite_likelihood() {
        let groups = [group(0b1, 500, 500), group(0b0, 500, 0)];
        let fit = Fit::of(0b1, &groups, 1, 1e-4);
        assert!(fit.rates[0] > 0.999 && fit.likelihood > -1.0, "{fit:?}");
        assert!(Fit::of(0, &groups, 1, 1e-4).likelihood.is_finite());
    }

    #[test]
    fn a_place_that_shares_most_of_its_probes_with_a_dead_one_is_seen() {
        // The first is dead; most probes over the second cross it too. The third has the same losses in more probes.
        let groups = [
            group(0b001, 200, 200),
            group(0b011, 200, 200),
            group(0b110, 100, 20),
            group(0b100, 160, 0),
        ];
        let fit = Fit::of(0b001, &groups, 3, 1e-4);
        let [link, nic] = [1, 2].map(|at| fit.unexplained(at, &groups, 1e-4));
        assert!(link > nic && nic > 50.0, "{link} {nic}");
    }

    #[test]
    fn bits_are_positions() {
        assert_eq!(bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(bits(0).count(), 0);
    }
}
