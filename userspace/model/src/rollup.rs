//! Rollups: the same tables with rows of longer windows, below the dataset.
//!
//! Rows of 1 minute are made from those that were captured, rows of 1 hour from those of 1 minute, and rows of 1 day from
//! those of 1 hour. Each table states beside its columns what rollups have of its rows: [`Rollup`].

use crate::Time;
use crate::time::{DAY_NS, HOUR_NS, MINUTE_NS};
use core::fmt;
use core::str::FromStr;
use serde::{Serialize, Serializer};

/// The directory of the rollups in a dataset.
pub const ROLLUPS: &str = "rollups";

/// What a rollup has of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rollup {
    /// The rows of an object in a window become one, by the rules over time. An object is what the columns with the rule
    /// `same` name, and these.
    Merged {
        /// More columns that name the object.
        by: &'static [&'static str],
    },
    /// Every row stays as it is.
    Kept,
    /// Rollups have no rows of the table.
    Raw {
        /// Why.
        reason: &'static str,
    },
    /// The table is computed from others when it is read.
    Derived,
}

impl fmt::Display for Rollup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Merged { by: [] } => f.write_str("merged"),
            Self::Merged { by } => write!(f, "merged, also by {}", by.join(", ")),
            Self::Kept => f.write_str("kept"),
            Self::Raw { reason } => write!(f, "none: {reason}"),
            Self::Derived => f.write_str("derived"),
        }
    }
}

impl Serialize for Rollup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How long the windows of a dataset, or of one of its rollups, are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// As captured: one second unless the capture was asked for others.
    Captured,
    /// One minute.
    Minute,
    /// One hour.
    Hour,
    /// One day.
    Day,
}

impl Resolution {
    /// All of them, the finest first.
    pub const ALL: [Self; 4] = [Self::Captured, Self::Minute, Self::Hour, Self::Day];
    /// Those of rollups, the finest first.
    pub const ROLLED_UP: [Self; 3] = [Self::Minute, Self::Hour, Self::Day];

    /// Its name, in settings and paths.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Captured => "1s",
            Self::Minute => "1m",
            Self::Hour => "1h",
            Self::Day => "1d",
        }
    }

    /// The resolution from whose rows this one is made; of captured rows, none.
    #[must_use]
    pub const fn finer(self) -> Option<Self> {
        match self {
            Self::Captured => None,
            Self::Minute => Some(Self::Captured),
            Self::Hour => Some(Self::Minute),
            Self::Day => Some(Self::Hour),
        }
    }

    /// The length of its windows; 0 for captured rows, whose windows are as they are.
    #[must_use]
    pub const fn window_ns(self) -> i64 {
        match self {
            Self::Captured => 0,
            Self::Minute => MINUTE_NS,
            Self::Hour => HOUR_NS,
            Self::Day => DAY_NS,
        }
    }

    /// The window that contains an instant: its start.
    #[must_use]
    pub const fn window(self, time: Time) -> Time {
        match self.window_ns() {
            0 => time,
            length => Time(time.0 - time.0.rem_euclid(length)),
        }
    }

    /// The partition that contains an instant: its start, and the start of the next one. It is an hour of captured rows and of
    /// minutes, a day of hours, and a month of days: a year of days is twelve files a table, not 8,760.
    #[must_use]
    pub const fn partition(self, time: Time) -> (Time, Time) {
        let length = match self {
            Self::Captured | Self::Minute => HOUR_NS,
            Self::Hour => DAY_NS,
            Self::Day => return month(time),
        };
        let start = time.0 - time.0.rem_euclid(length);
        (Time(start), Time(start.saturating_add(length)))
    }
}

/// The month that contains an instant: its start and that of the next.
const fn month(time: Time) -> (Time, Time) {
    let civil = time.civil();
    let (year, next) = match civil.month {
        12 => (civil.year + 1, 1),
        month => (civil.year, month + 1),
    };
    match (
        Time::from_date(civil.year, civil.month, 1),
        Time::from_date(year, next, 1),
    ) {
        (Some(start), Some(end)) => (start, end),
        // Outside the calendar: at the ends of the range of instants.
        _ => (time, Time(time.0.saturating_add(DAY_NS))),
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Resolution {
    type Err = &'static str;

    /// # Errors
    /// The name is none of a resolution.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|resolution| resolution.name() == text);
        found.ok_or("expected 1s, 1m, 1h or 1d")
    }
}

#[cfg(test)]
mod tests {
    use super::{Resolution, Rollup};
    use crate::time::DAY_NS;
    use crate::{DERIVED_TABLES, FlowRow, PdcRow, Row, SlaRow, TABLES, Table, Time, Type};
    use std::vec::Vec;

    fn object(table: &Table) -> Vec<&'static str> {
        table.object().map(|at| table.columns[at].name).collect()
    }

    #[test]
    fn every_stored_table_states_what_becomes_of_its_rows() {
        for table in TABLES {
            assert_ne!(table.rollup, Rollup::Derived, "{}", table.name);
            if let Rollup::Merged { by } = table.rollup {
                assert!(by.iter().all(|name| table.position(name).is_some()), "{}", table.name);
                assert!(object(table).contains(&"observer"), "{}", table.name);
                let is_time = |at: usize| table.columns[at].kind == Type::Time;
                assert!(!table.object().any(is_time), "{}", table.name);
            }
        }
        assert!(DERIVED_TABLES.iter().all(|table| table.rollup == Rollup::Derived));
    }

    #[test]
    fn objects_are_named_by_the_columns_that_stay_the_same() {
        let flow = [
            "observer",
            "flow_hash",
            "src",
            "dst",
            "udp_src_port",
            "dst_qpn",
            "vlan",
            "inner_vlan",
            "vni",
            "direction_key",
        ];
        assert_eq!(object(FlowRow::TABLE), flow);
        assert_eq!(object(SlaRow::TABLE), ["observer"]);
        assert!(object(PdcRow::TABLE).contains(&"src_pdc"));
    }

    #[test]
    fn partitions_are_hours_days_and_months() {
        let time = Time(1_795_228_209_987_654_321);
        let of = |resolution: Resolution| {
            let (start, end) = resolution.partition(time);
            [std::format!("{start:.0}"), std::format!("{end:.0}")]
        };
        assert_eq!(
            of(Resolution::Captured),
            ["2026-11-21T02:00:00Z", "2026-11-21T03:00:00Z"]
        );
        assert_eq!(of(Resolution::Minute), of(Resolution::Captured));
        assert_eq!(of(Resolution::Hour), ["2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"]);
        assert_eq!(of(Resolution::Day), ["2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"]);
        let december = Time(time.0 + 30 * DAY_NS);
        assert_eq!(
            std::format!("{:.0}", Resolution::Day.partition(december).1),
            "2027-01-01T00:00:00Z"
        );
        assert_eq!(Resolution::Minute.window(time), Time(1_795_228_200_000_000_000));
        assert_eq!(Resolution::Captured.window(time), time);
        // At the ends of the range there is still a partition that contains the instant.
        for time in [Time(i64::MIN), Time(i64::MAX)] {
            let (start, end) = Resolution::Day.partition(time);
            assert!(start <= time && time <= end);
        }
    }

    #[test]
    fn names_are_parsed() {
        for resolution in Resolution::ALL {
            assert_eq!(resolution.name().parse(), Ok(resolution));
        }
        assert!("2h".parse::<Resolution>().is_err());
    }
}
