//! Which hours of a dataset a condition on the time of a row can concern.
//!
//! `date` and `hour` of a segment's directory follow from the time of its rows, which the planner does not know: `WHERE
//! window_start >= …` would open every file. From each such condition follows one on the directories. A directory has an
//! hour of rows; in rollups also a day or a month, and the name of the hour in which these begin.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, col, lit};
use rocescope_model::{ROLLUPS, Resolution, Time};

/// The column of a directory's day, `2026-11-21`.
pub(crate) const DATE: &str = "date";
/// The column of its hour in UTC, `02`.
pub(crate) const HOUR: &str = "hour";

/// The resolution of the rows below a root, which ends in `/`: that of a rollup if its path ends so.
pub(crate) fn resolution(root: &str) -> Resolution {
    let is_of = |resolution: &Resolution| root.ends_with(&format!("/{ROLLUPS}/{resolution}/"));
    let found = Resolution::ROLLED_UP.into_iter().find(is_of);
    found.unwrap_or(Resolution::Captured)
}

/// Conditions on `date` and `hour` that hold wherever all `filters` hold. `time` is the column that determines the
/// directory of a row; the column with the same name and `_ns` has the same instant in nanoseconds.
pub(crate) fn directories(filters: &[Expr], time: &str, resolution: Resolution) -> Vec<Expr> {
    filters.iter().flat_map(|filter| of(filter, time, resolution)).collect()
}

fn of(filter: &Expr, time: &str, resolution: Resolution) -> Vec<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = filter else {
        return Vec::new();
    };
    if *op == Operator::And {
        return [left, right]
            .into_iter()
            .flat_map(|side| of(side, time, resolution))
            .collect();
    }
    let (column, op, value) = match (&**left, &**right) {
        (column, Expr::Literal(value, _)) => (column, *op, value),
        (Expr::Literal(value, _), column) => match op.swap() {
            Some(op) => (column, op, value),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let Expr::Column(column) = column else {
        return Vec::new();
    };
    let nanos = match value {
        ScalarValue::Int64(Some(nanos)) if column.name.strip_suffix("_ns") == Some(time) => *nanos,
        value if column.name == time => match instant(value) {
            Some(nanos) => nanos,
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let since = |nanos| since(resolution.partition(Time(nanos)).0.0);
    match op {
        Operator::Gt | Operator::GtEq => vec![since(nanos)],
        Operator::Lt => vec![until(nanos.saturating_sub(1))],
        Operator::LtEq => vec![until(nanos)],
        Operator::Eq => vec![since(nanos), until(nanos)],
        _ => Vec::new(),
    }
}

/// Nanoseconds since 1970, clamped to their range.
const fn instant(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::TimestampSecond(Some(seconds), _) => Some(seconds.saturating_mul(1_000_000_000)),
        ScalarValue::TimestampMillisecond(Some(millis), _) => Some(millis.saturating_mul(1_000_000)),
        ScalarValue::TimestampMicrosecond(Some(micros), _) => Some(micros.saturating_mul(1_000)),
        ScalarValue::TimestampNanosecond(Some(nanos), _) => Some(*nanos),
        _ => None,
    }
}

/// Directories with rows at or after this time.
fn since(nanos: i64) -> Expr {
    let (date, hour) = directory(nanos);
    let same_day = col(DATE).eq(lit(date.clone())).and(col(HOUR).gt_eq(lit(hour)));
    col(DATE).gt(lit(date)).or(same_day)
}

/// Directories with rows at or before this time.
fn until(nanos: i64) -> Expr {
    let (date, hour) = directory(nanos);
    let same_day = col(DATE).eq(lit(date.clone())).and(col(HOUR).lt_eq(lit(hour)));
    col(DATE).lt(lit(date)).or(same_day)
}

/// The day and the hour of rows at this time.
fn directory(nanos: i64) -> (String, String) {
    let at = Time(nanos).civil();
    (
        format!("{:04}-{:02}-{:02}", at.year, at.month, at.day),
        format!("{:02}", at.hour),
    )
}

#[cfg(test)]
mod tests {
    use super::{directories, resolution};
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::{Expr, col, lit};
    use rocescope_model::Resolution;

    /// 2026-11-21T02:30:09.123456Z
    const MICROS: i64 = 1_795_228_209_123_456;

    fn at(micros: i64) -> Expr {
        lit(ScalarValue::TimestampMicrosecond(Some(micros), Some("UTC".into())))
    }

    fn selected(filters: &[Expr]) -> Vec<String> {
        directories(filters, "window_start", Resolution::Captured)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_condition_on_the_time_selects_hours() {
        let since = r#"date > Utf8("2026-11-21") OR date = Utf8("2026-11-21") AND hour >= Utf8("02")"#;
        let until = r#"date < Utf8("2026-11-21") OR date = Utf8("2026-11-21") AND hour <= Utf8("02")"#;
        assert_eq!(selected(&[col("window_start").gt(at(MICROS))]), [since]);
        assert_eq!(selected(&[at(MICROS).gt_eq(col("window_start"))]), [until]);
        assert_eq!(selected(&[col("window_start").eq(at(MICROS))]), [since, until]);
        let both = col("window_start")
            .gt_eq(at(MICROS))
            .and(col("window_start_ns").lt(lit(MICROS * 1_000)));
        assert_eq!(selected(&[both]), [since, until]);
    }

    /// What is before 03:00 is in no directory of that hour; what is at 03:00 is.
    #[test]
    fn the_edge_of_an_hour_belongs_to_the_later_one() {
        let hour = MICROS - MICROS % 3_600_000_000;
        let before = r#"date < Utf8("2026-11-21") OR date = Utf8("2026-11-21") AND hour <= Utf8("01")"#;
        assert_eq!(selected(&[col("window_start").lt(at(hour))]), [before]);
        let until = before.replace("01", "02");
        assert_eq!(selected(&[col("window_start").lt_eq(at(hour))]), [until]);
    }

    /// A day of hours is in the directory of its hour 00, a month of days in that of its first day.
    #[test]
    fn a_partition_of_a_rollup_begins_before_its_rows() {
        let since = [col("window_start").gt(at(MICROS))];
        for (root, begin) in [
            ("file:///d/rollups/1m/", ("2026-11-21", "02")),
            ("file:///d/rollups/1h/", ("2026-11-21", "00")),
            ("file:///d/rollups/1d/", ("2026-11-01", "00")),
            ("file:///rollups/d/", ("2026-11-21", "02")),
        ] {
            let (date, hour) = begin;
            let expected = format!(r#"date > Utf8("{date}") OR date = Utf8("{date}") AND hour >= Utf8("{hour}")"#);
            let found = directories(&since, "window_start", resolution(root));
            assert_eq!(
                found.iter().map(ToString::to_string).collect::<Vec<_>>(),
                [expected],
                "{root}"
            );
        }
    }

    #[test]
    fn other_conditions_select_nothing() {
        let others = [
            col("frames").gt(lit(MICROS)),
            col("window_start").not_eq(at(MICROS)),
            col("window_start").gt(at(MICROS)).or(col("frames").gt(lit(1_i64))),
            col("time").gt(at(MICROS)),
            col("window_start").gt(lit(ScalarValue::TimestampMicrosecond(None, None))),
        ];
        assert_eq!(selected(&others), [String::new(); 0]);
    }

    /// Rows before 1970 round down, too.
    #[test]
    fn an_hour_begins_at_its_first_microsecond() {
        let hour = r#"date > Utf8("1969-12-31") OR date = Utf8("1969-12-31") AND hour >= Utf8("23")"#;
        assert_eq!(selected(&[col("window_start").gt(at(-1))]), [hour]);
        let hour = r#"date > Utf8("1970-01-01") OR date = Utf8("1970-01-01") AND hour >= Utf8("00")"#;
        assert_eq!(selected(&[col("window_start").gt(at(0))]), [hour]);
    }
}
