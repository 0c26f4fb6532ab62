//! The threshold below which a test is abnormal.

use alloc::format;
use alloc::string::String;

/// A threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// A share of the baseline; a latency is abnormal above the baseline divided by it.
    Ratio {
        /// Who recommends it.
        name: &'static str,
        /// The share: 0.8 is 80 %.
        ratio: f64,
    },
    /// A figure for memory and for GPUs behind the NIC's own switch. Other endpoints have none: [`SEED`](Self::SEED)
    /// applies to them.
    Figure {
        /// Whose figure it is.
        name: &'static str,
        /// Gbit/s.
        gbps: f64,
    },
}

impl Rule {
    /// Hostping's slides: all their values are on the right side of 80 % of the baseline.
    pub const SEED: Self = Self::Ratio {
        name: "seed",
        ratio: 0.8,
    };

    /// The rules with a name: the seed's, SuperBench's (defective below 95 % of the baseline), and the figures of
    /// Azure's node health checks for loopback tests with 8 MiB messages (64 KiB for the V100).
    pub const NAMED: [Self; 9] = [
        Self::SEED,
        Self::Ratio {
            name: "superbench",
            ratio: 0.95,
        },
        Self::figure("azure-a100", 180.0),
        Self::figure("azure-h100", 380.0),
        Self::figure("azure-h200", 360.0),
        Self::figure("azure-mi300x", 390.0),
        Self::figure("azure-hbv4", 390.0),
        Self::figure("azure-hbv3", 190.0),
        Self::figure("azure-v100", 78.0),
    ];

    const fn figure(name: &'static str, gbps: f64) -> Self {
        Self::Figure { name, gbps }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ratio { name, .. } | Self::Figure { name, .. } => name,
        }
    }

    /// Returns the rule of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|rule| rule.name() == name)
    }

    /// The share of the baseline that it applies to endpoints without a figure.
    #[must_use]
    pub const fn ratio(self) -> f64 {
        match self {
            Self::Ratio { ratio, .. } => ratio,
            Self::Figure { .. } => 0.8,
        }
    }

    /// As text: `80 % of the baseline (seed)`.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Ratio { name, ratio } => format!("{:.0} % of the baseline ({name})", ratio * 100.0),
            Self::Figure { name, gbps } => {
                format!("{gbps} Gbit/s to memory and local GPUs ({name}), else 80 % of the baseline")
            }
        }
    }
}
