//! What a cell of the matrix says, and how grave that is.

use crate::hostmesh::Settings;
use rocescope_model::{PairRow, Value};

/// A figure of a pair of NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Share of the probes that was lost or came changed.
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

/// How grave a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Severity {
    /// As it should be, or nothing is known.
    #[default]
    Fine,
    /// Worth a look.
    Notice,
    /// Somebody must look.
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

    /// The character before a figure where there may be no colours.
    #[must_use]
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Fine => "",
            Self::Notice => "+",
            Self::Bad => "!",
        }
    }
}

/// Late is what takes more than so many times what half of the pairs take, and bad what takes so many times that.
const LATE: [(i64, Severity); 2] = [(10, Severity::Bad), (2, Severity::Notice)];

impl Figure {
    /// Every figure, in the order in which an operator asks.
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

    /// The figure that this column of `pairs` is.
    #[must_use]
    pub fn of_column(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.column() == name)
    }

    /// Nanoseconds of a pair, where it is a time.
    pub(super) const fn nanoseconds(self, pair: &PairRow) -> Option<i64> {
        match self {
            Self::Drops => None,
            Self::NetworkP50 => pair.network_p50_ns,
            Self::NetworkP99 => pair.network_p99_ns,
            Self::ProcessingP50 => pair.processing_p50_ns,
            Self::ProcessingP99 => pair.processing_p99_ns,
        }
    }

    /// The figure of a pair: a ratio or nanoseconds; null where it has none.
    #[must_use]
    pub fn value(self, pair: &PairRow) -> Value<'static> {
        match self {
            Self::Drops => pair.drop_ratio.map_or(Value::Null, Value::F64),
            _ => self.nanoseconds(pair).map_or(Value::Null, Value::I64),
        }
    }

    /// How grave it is. Drops are bad where the pair alone would make a NIC anomalous: more than 10 % of at least 10
    /// probes (Hostmesh, section 4). Times are compared with `usual_ns`, the median of all pairs: more than twice of it
    /// is worth a look, more than ten times is bad, where it is also 20 µs more and beyond twice the clocks' error.
    #[must_use]
    pub fn severity(self, pair: &PairRow, usual_ns: Option<i64>) -> Severity {
        let settings = Settings::default();
        let Some(ns) = self.nanoseconds(pair) else {
            let drops = pair.timeouts.saturating_add(pair.corrupt);
            let many = drops.saturating_mul(100) > pair.probes.saturating_mul(settings.nic_percent);
            return match (self, drops) {
                (Self::Drops, 1..) if many && pair.probes >= settings.least_probes => Severity::Bad,
                (Self::Drops, 1..) => Severity::Notice,
                _ => Severity::Fine,
            };
        };
        let usual_ns = usual_ns.unwrap_or(ns);
        let least_ns = settings
            .least_late_ns
            .max(pair.clock_error_ns.saturating_mul(2));
        if ns.saturating_sub(usual_ns) <= least_ns {
            return Severity::Fine;
        }
        let late = LATE
            .into_iter()
            .find(|(times, _)| ns > usual_ns.saturating_mul(*times));
        late.map_or(Severity::Fine, |(_, severity)| severity)
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Severity};
    use rocescope_model::{PairRow, Row, Value};

    #[test]
    fn figures_are_columns() {
        for figure in Figure::ALL {
            assert!(PairRow::TABLE.position(figure.column()).is_some());
            assert_eq!(Figure::of_column(figure.column()), Some(figure));
        }
        assert_eq!(Figure::of_column("probes"), None);
    }

    #[test]
    fn exactly_a_tenth_is_worth_a_look_and_one_more_is_bad() {
        let severity = |probes, timeouts, corrupt| {
            let pair = PairRow {
                probes,
                timeouts,
                corrupt,
                ..PairRow::default()
            };
            Figure::Drops.severity(&pair, None)
        };
        assert_eq!(severity(20, 0, 0), Severity::Fine);
        assert_eq!(severity(20, 2, 0), Severity::Notice);
        assert_eq!(severity(20, 2, 1), Severity::Bad);
        assert_eq!(severity(9, 9, 0), Severity::Notice, "too few to say more");
    }

    #[test]
    fn late_is_late_beside_other_pairs_and_beyond_the_error_of_clocks() {
        let pair = |network_p99_ns, clock_error_ns| PairRow {
            network_p99_ns,
            clock_error_ns,
            ..PairRow::default()
        };
        let severity =
            |ns, error| Figure::NetworkP99.severity(&pair(Some(ns), error), Some(10_000));
        assert_eq!(severity(29_000, 0), Severity::Fine);
        assert_eq!(severity(31_000, 0), Severity::Notice);
        assert_eq!(severity(31_000, 15_000), Severity::Fine);
        assert_eq!(severity(100_001, 0), Severity::Bad);
        assert_eq!(Figure::NetworkP99.value(&pair(None, 0)), Value::Null);
        assert_eq!(
            Figure::NetworkP99.severity(&pair(None, 0), Some(1)),
            Severity::Fine
        );
    }
}
