//! Probes and anomalous probes of a place, and how far they exceed chance.

/// Probes and anomalous probes of a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) probes: u64,
    pub(crate) anomalous: u64,
}

impl Count {
    /// Returns the logarithm of the likelihood ratio against an expected share; 0 without an excess.
    pub(crate) fn score(self, expected: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let (n, k) = (self.probes as f64, self.anomalous as f64);
        if k <= n * expected {
            return 0.0;
        }
        let rest = if self.anomalous >= self.probes {
            0.0
        } else {
            (n - k) * libm::log((n - k) / (n * (1.0 - expected)))
        };
        k * libm::log(k / (n * expected)) + rest
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn share(self) -> f64 {
        self.anomalous as f64 / self.probes.max(1) as f64
    }

    pub(crate) const fn add(&mut self, probes: u64, anomalous: u64) {
        self.probes += probes;
        self.anomalous += anomalous;
    }

    pub(crate) const fn take(&mut self, probes: u64, anomalous: u64) {
        self.probes -= probes;
        self.anomalous -= anomalous;
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn scores_are_those_of_the_formula() {
        let count = |probes, anomalous| Count { probes, anomalous };
        // Everything lost: k ln(1 / q).
        assert!((count(5, 5).score(1e-4) - 5.0 * 9.210_340_37).abs() < 1e-6);
        // 10 ln(1000) + 90 ln(0.9 / 0.9999).
        assert!((count(100, 10).score(1e-4) - (69.077_553 - 9.473_447)).abs() < 1e-5);
        assert_eq!(count(10_000, 1).score(1e-4), 0.0);
        assert_eq!(count(0, 0).score(1e-4), 0.0);
        // Half as many probes without more drops: the place fits better.
        assert!(count(50, 10).score(1e-4) > count(100, 10).score(1e-4));
    }
}
