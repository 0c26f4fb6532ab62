//! The metric that a cell of the matrix shows, and its severity.

use crate::hostmesh::Settings;
use rocescope_model::{PairRow, Value};

/// A metric of a pair of NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Share of the probes that were lost or arrived corrupted.
    Drops,
    /// Median one-way latency of the network.
    NetworkP50,
    /// Its 99th percentile.
    NetworkP99,
    /// Median delay in the host.
    ProcessingP50,
    /// Its 99th percentile.
    ProcessingP99,
}

/// How serious a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Severity {
    /// Normal, or unknown.
    #[default]
    Fine,
    /// Unusual.
    Notice,
    /// Needs attention.
    Bad,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Notice => "notice",
            Self::Bad => "bad",
        }
    }

    /// The character before a value where colours may be missing.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Fine => "",
            Self::Notice => "+",
            Self::Bad => "!",
        }
    }
}

/// A latency of more than this multiple of the median of all pairs has this severity.
const LATE: [(i64, Severity); 2] = [(10, Severity::Bad), (2, Severity::Notice)];

impl Metric {
    /// Every metric, in the order in which an operator needs them.
    pub const ALL: [Self; 5] = [
        Self::Drops,
        Self::NetworkP50,
        Self::NetworkP99,
        Self::ProcessingP50,
        Self::ProcessingP99,
    ];

    /// Its column in `pairs`.
    #[must_use]
    pub const fn column(self) -> &'static str {
        match self {
            Self::Drops => "drop_ratio",
            Self::NetworkP50 => "network_p50_ns",
            Self::NetworkP99 => "network_p99_ns",
            Self::ProcessingP50 => "processing_p50_ns",
            Self::ProcessingP99 => "processing_p99_ns",
        }
    }

    /// Returns the metric in this column of `pairs`.
    #[must_use]
    pub fn of_column(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.column() == name)
    }

    /// The nanoseconds of a pair, if the metric is a time.
    pub(super) const fn nanoseconds(self, pair: &PairRow) -> Option<i64> {
        match self {
            Self::Drops => None,
            Self::NetworkP50 => pair.network_p50_ns,
            Self::NetworkP99 => pair.network_p99_ns,
            Self::ProcessingP50 => pair.processing_p50_ns,
            Self::ProcessingP99 => pair.processing_p99_ns,
        }
    }

    /// The value of a pair: a ratio or nanoseconds; null if it is unknown.
    #[must_use]
    pub fn value(self, pair: &PairRow) -> Value<'static> {
        match self {
            Self::Drops => pair.drop_ratio.map_or(Value::Null, Value::F64),
            _ => self.nanoseconds(pair).map_or(Value::Null, Value::I64),
        }
    }

    /// Returns the severity. Drops are bad if the pair alone would make a NIC anomalous: more than 10 % of at least 10
    /// probes (Hostmesh, section 4). Times are compared with `baseline_ns`, the median of all pairs: more than twice
    /// is a notice, more than ten times is bad, if the excess is also above 20 µs and twice the clocks' error.
    #[must_use]
    pub fn severity(self, pair: &PairRow, baseline_ns: Option<i64>) -> Severity {
        let settings = Settings::default();
        let Some(ns) = self.nanoseconds(pair) else {
            let drops = pair.timeouts.saturating_add(pair.corrupt);
            let many = drops.saturating_mul(100) > pair.probes.saturating_mul(settings.nic_percent);
            return match (self, drops) {
                (Self::Drops, 1..) if many && pair.probes >= settings.min_probes => Severity::Bad,
                (Self::Drops, 1..) => Severity::Notice,
                _ => Severity::Fine,
            };
        };
        let baseline_ns = baseline_ns.unwrap_or(ns);
        let min_ns = settings.min_late_ns.max(pair.clock_error_ns.saturating_mul(2));
        if ns.saturating_sub(baseline_ns) <= min_ns {
            return Severity::Fine;
        }
        let late = LATE
            .into_iter()
            .find(|(times, _)| ns > baseline_ns.saturating_mul(*times));
        late.map_or(Severity::Fine, |(_, severity)| severity)
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, Severity};
    use rocescope_model::{PairRow, Row, Value};

    #[test]
    fn every_metric_is_a_column() {
        for metric in Metric::ALL {
            assert!(PairRow::TABLE.position(metric.column()).is_some());
            assert_eq!(Metric::of_column(metric.column()), Some(metric));
        }
        assert_eq!(Metric::of_column("probes"), None);
    }

    #[test]
    fn exactly_a_tenth_is_a_notice_and_one_more_is_bad() {
        let severity = |probes, timeouts, corrupt| {
            let pair = PairRow {
                probes,
                timeouts,
                corrupt,
                ..PairRow::default()
            };
            Metric::Drops.severity(&pair, None)
        };
        assert_eq!(severity(20, 0, 0), Severity::Fine);
        assert_eq!(severity(20, 2, 0), Severity::Notice);
        assert_eq!(severity(20, 2, 1), Severity::Bad);
        assert_eq!(severity(9, 9, 0), Severity::Notice, "too few to be bad");
    }

    #[test]
    fn late_means_late_compared_with_other_pairs_and_beyond_the_error_of_clocks() {
        let pair = |network_p99_ns, clock_error_ns| PairRow {
            network_p99_ns,
            clock_error_ns,
            ..PairRow::default()
        };
        let severity = |ns, error| Metric::NetworkP99.severity(&pair(Some(ns), error), Some(10_000));
        assert_eq!(severity(29_000, 0), Severity::Fine);
        assert_eq!(severity(31_000, 0), Severity::Notice);
        assert_eq!(severity(31_000, 15_000), Severity::Fine);
        assert_eq!(severity(100_001, 0), Severity::Bad);
        assert_eq!(Metric::NetworkP99.value(&pair(None, 0)), Value::Null);
        assert_eq!(Metric::NetworkP99.severity(&pair(None, 0), Some(1)), Severity::Fine);
    }
}
