//! How the cells of a column are merged when several rows become one.
//!
//! Rows are merged in two ways. Over time: consecutive windows. Over observers: one window as seen by several
//! observers, or several connections of the same time. Each column has a [`Rule`] for both, next to its unit in the
//! `table!` macro, and a table does not compile without them. [`Row::merge`](crate::Row::merge) applies the rules.
//!
//! Null means "not measured". It adds nothing to measured values, with two exceptions: [`Rule::Whole`], because a
//! partial sum would be mistaken for the complete one, and [`Rule::Same`].

use crate::{Cell, Unit, Value};
use core::fmt;
use serde::{Serialize, Serializer};

/// Which rows are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Consecutive rows of the same object.
    Time,
    /// Rows of the same time: of several observers, or of several connections.
    Observers,
}

/// The rules of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Aggregate {
    /// Over time.
    pub time: Rule,
    /// Over observers.
    pub observers: Rule,
}

impl Aggregate {
    /// Returns the rule for these rows.
    #[must_use]
    pub const fn over(self, over: Over) -> Rule {
        match over {
            Over::Time => self.time,
            Over::Observers => self.observers,
        }
    }
}

/// Writes one rule if both are the same, otherwise the rule over time, a slash, and the rule over observers.
impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.time.fmt(f)?;
        if self.observers != self.time {
            write!(f, " / {}", self.observers)?;
        }
        Ok(())
    }
}

/// How cells are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The common value of all rows; if they differ, null, empty text, or the first value of other types.
    Same,
    /// The sum.
    Sum,
    /// The sum; null if any cell is null.
    Whole,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The first that is not empty.
    First,
    /// The value of the last row that has one.
    Last,
    /// Whether any row is true.
    Any,
    /// From the start of the first row, `window_start_ns`, to the end of the last.
    Span,
    /// The sum of the columns `of` divided by the sum of the columns `among`; null if either is unknown.
    Ratio {
        /// Names of the columns of the dividend.
        of: &'static [&'static str],
        /// Names of the columns of the divisor.
        among: &'static [&'static str],
    },
    /// This column divided by `window_ns`, in the unit of the rate.
    Rate(&'static str),
    /// A sketch or histogram. The owner of the sketches merges it; a merged row does not contain it.
    Sketch,
    /// Undefined for several rows: null, 0, false or empty.
    None,
}

impl Rule {
    /// Every name of a rule with its meaning, for documentation.
    pub const WORDS: [(&'static str, &'static str); 13] = [
        ("sum", "the sum; null adds nothing"),
        ("complete sum", "the sum; null if the cell of any row is null"),
        ("min", "the smallest"),
        ("max", "the largest"),
        ("first", "the first that is not empty"),
        ("last", "the value of the last row that has one"),
        ("any", "true if any is"),
        (
            "same",
            "the common value of all rows; otherwise null, empty text, or the first",
        ),
        ("span", "from the start of the first row to the end of the last"),
        ("a / (b + c)", "recomputed from the merged columns"),
        ("a per second", "recomputed from the merged column and `window_ns`"),
        (
            "sketch",
            "`rocescope dataset merge` and `rollup` merge the sketches of `windows`; other merges omit them",
        ),
        ("none", "undefined for several rows: null, 0, false or empty"),
    ];

    /// Whether the merged cell is the sum of the cells.
    #[must_use]
    pub const fn is_sum(self) -> bool {
        matches!(self, Self::Sum | Self::Whole)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Sum => "sum",
            Self::Whole => "complete sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::First => "first",
            Self::Last => "last",
            Self::Any => "any",
            Self::Span => "span",
            Self::Ratio { of, among } => {
                columns(f, of)?;
                f.write_str(" / ")?;
                return columns(f, among);
            }
            Self::Rate(of) => return write!(f, "{of} per second"),
            Self::Sketch => "sketch",
            Self::None => "none",
        })
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Writes a column, or the sum of several in parentheses.
fn columns(f: &mut fmt::Formatter<'_>, names: &[&str]) -> fmt::Result {
    let (open, close) = if names.len() > 1 { ("(", ")") } else { ("", "") };
    f.write_str(open)?;
    for (at, name) in names.iter().enumerate() {
        let plus = if at > 0 { " + " } else { "" };
        write!(f, "{plus}{name}")?;
    }
    f.write_str(close)
}

/// Returns the sum of the numbers in these cells; `None` if one is null.
fn sum(cells: &[Value<'_>]) -> Option<f64> {
    let numbers = cells.iter().map(|cell| match cell {
        Value::I64(number) => Some(*number as f64),
        Value::F64(number) => Some(*number),
        _ => None,
    });
    numbers.sum()
}

/// Returns a computed cell; without a number null, or 0 in a column that is not nullable.
pub(crate) fn computed<C: Cell>(number: Option<f64>) -> C {
    let value = number.map_or(Value::Null, Value::F64);
    C::read(value).unwrap_or_else(C::empty)
}

/// Returns the ratio of two sums; `None` if one is unknown or the divisor is 0.
pub(crate) fn ratio(of: &[Value<'_>], among: &[Value<'_>]) -> Option<f64> {
    let (of, among) = (sum(of)?, sum(among)?);
    (among > 0.0).then(|| of / among)
}

/// Returns the rate of `count` in `ns` nanoseconds, in this unit.
pub(crate) fn rate(count: Value<'_>, unit: Unit, ns: i64) -> Option<f64> {
    let (count, ns) = (sum(&[count])?, ns.max(1) as f64);
    Some(match unit {
        Unit::BitsPerSecond => count * 8e9 / ns,
        _ => count / (ns / 1e9),
    })
}

#[cfg(test)]
mod tests {
    use super::{Over, Rule};
    use crate::{Column, FlowRow, OpcodeRow, Row, SlaRow, Table, Type, Unit, WindowRow};
    use crate::{DERIVED_TABLES, TABLES};
    use std::string::ToString;
    use std::vec::Vec;

    fn column(table: &'static Table, name: &str) -> &'static Column {
        &table.columns[table.position(name).unwrap()]
    }

    fn both(table: &'static Table, over: Over) -> Vec<(&'static Column, Rule)> {
        let columns = table.columns.iter();
        columns.map(|column| (column, column.aggregate.over(over))).collect()
    }

    /// A column added in the manner of its neighbours has the rule that its unit suggests.
    #[test]
    fn rules_fit_the_types_and_units_of_their_columns() {
        for table in TABLES.iter().chain(DERIVED_TABLES) {
            for over in [Over::Time, Over::Observers] {
                for (column, rule) in both(table, over) {
                    let numeric = matches!(column.kind, Type::I64 | Type::F64);
                    let fits = match rule {
                        Rule::Sum => numeric,
                        Rule::Whole => numeric && column.nullable,
                        Rule::Min | Rule::Max => numeric || column.kind == Type::Time,
                        Rule::First => column.kind == Type::Text,
                        Rule::Any => column.kind == Type::Bool,
                        Rule::Span => column.name == "window_ns",
                        Rule::Ratio { .. } => column.unit == Unit::Ratio,
                        Rule::Rate(_) => {
                            matches!(column.unit, Unit::BitsPerSecond | Unit::PacketsPerSecond)
                        }
                        Rule::Sketch => matches!(column.kind, Type::Bytes | Type::ListI64),
                        Rule::Same | Rule::Last | Rule::None => true,
                    };
                    let counts = numeric
                        && matches!(
                            column.unit,
                            Unit::Packets | Unit::Frames | Unit::Messages | Unit::Events
                        );
                    let counted = rule.is_sum() || !counts || rule == Rule::Last;
                    assert!(fits && counted, "{}.{}: {rule}", table.name, column.name);
                }
            }
        }
    }

    #[test]
    fn every_rule_is_in_the_documentation() {
        let words: Vec<&str> = Rule::WORDS.iter().map(|(word, _)| *word).collect();
        for table in TABLES.iter().chain(DERIVED_TABLES) {
            for (column, rule) in both(table, Over::Time) {
                let computed = matches!(rule, Rule::Ratio { .. } | Rule::Rate(_));
                let word = rule.to_string();
                assert!(computed || words.contains(&&*word), "{}", column.name);
            }
        }
        let of = |name| column(WindowRow::TABLE, name).aggregate.to_string();
        let ratio = "mirror_lost_packets / (mirror_lost_packets + roce_packets)";
        assert_eq!(of("mirror_loss_ratio"), ratio);
        assert_eq!(of("icrc_bad_packets"), "sum / complete sum");
    }

    #[test]
    fn windows_add_up_over_time() {
        let mut sum = WindowRow {
            window_start_ns: 50,
            window_ns: 10,
            frames: 5,
            roce_packets: 30,
            flows: 9,
            icrc_bad_packets: Some(1),
            hll_flows: Some(std::vec![1].into()),
            ..WindowRow::default()
        };
        let next = WindowRow {
            window_start_ns: 70,
            window_ns: 10,
            frames: 6,
            roce_packets: 60,
            flows: 7,
            mirror_lost_packets: Some(10),
            mirror_duplicate_packets: Some(3),
            hll_flows: Some(std::vec![1].into()),
            ..WindowRow::default()
        };
        sum.merge(&next, Over::Time);
        assert_eq!((sum.window_start_ns, sum.window_ns), (50, 30));
        assert_eq!((sum.frames, sum.flows), (11, 9));
        assert_eq!(sum.icrc_bad_packets, Some(1));
        assert_eq!(sum.mirror_duplicate_packets, Some(3));
        assert_eq!(sum.mirror_loss_ratio, Some(0.1));
        assert_eq!(sum.hll_flows, None);
    }

    #[test]
    fn observers_add_up_and_unknown_stays_unknown() {
        let mut sum = WindowRow {
            frames: 5,
            icrc_bad_packets: Some(1),
            mirror_lost_packets: Some(2),
            mirror_gap_frames: Some(4),
            boundary_slack_ns: 7,
            ..WindowRow::default()
        };
        let other = WindowRow {
            frames: 6,
            mirror_lost_packets: Some(3),
            boundary_slack_ns: 4,
            ..WindowRow::default()
        };
        sum.merge(&other, Over::Observers);
        assert_eq!((sum.frames, sum.boundary_slack_ns), (11, 7));
        assert_eq!(sum.mirror_lost_packets, Some(5));
        assert_eq!(sum.icrc_bad_packets, None);
        assert_eq!(sum.mirror_gap_frames, Some(4));
    }

    #[test]
    fn times_of_a_flow_span_both_and_rates_follow() {
        let mut flow = FlowRow {
            window_ns: 1_000_000_000,
            observer: "a".into(),
            frame_bytes: 100,
            first_ns: 3,
            last_ns: 4,
            ..FlowRow::default()
        };
        let other = FlowRow {
            observer: "b".into(),
            frame_bytes: 300,
            first_ns: 1,
            last_ns: 2,
            elephant: true,
            ..flow.clone()
        };
        flow.merge(&other, Over::Observers);
        assert_eq!((flow.first_ns, flow.last_ns, flow.elephant), (1, 4, true));
        assert_eq!((flow.frame_bps, &*flow.observer), (3_200.0, ""));
    }

    #[test]
    fn rates_and_ratios_are_computed_again() {
        let mut row = OpcodeRow {
            packets: 4,
            window_ns: 2_000_000_000,
            ..OpcodeRow::default()
        };
        row.recompute();
        assert_eq!(row.rate_pps, 2.0);
        let mut sla = SlaRow::default();
        sla.recompute();
        assert_eq!(sla.rnic_drop_ratio, None);
    }
}
