//! Compares two reports: what changed, by table, the largest change first.
//!
//! Two spans rarely have the same length, so counts are compared as rates: for each second that windows cover. Ratios
//! and quantiles are compared as they are. A figure that one side has no evidence for is unknown, not 0.
//!
//! | module | contents |
//! |---|---|
//! | [`connections`] | counts and round trips of a span, from rows that hold totals |
//! | `figures` | the figures of each table, side by side |
//! | [`incidents`] | incidents that are new, gone, worse or better |
//! | [`mod@text`] | the comparison as text |

pub mod connections;
mod figures;
pub mod incidents;
pub mod text;

use crate::Report;
use connections::ConnectionSpan;
use incidents::{Found, IncidentChange};
use rocescope_diagnose::incidents::Document;
use rocescope_model::{ChangeRow, Time, Unit};
use serde::Serialize;

/// One of the two spans.
#[derive(Debug)]
pub struct Side {
    /// Its report, with all flows.
    pub report: Report,
    /// Its connections.
    pub connections: ConnectionSpan,
}

/// What changed from `a` to `b`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The first span.
    pub a: Span,
    /// The second one.
    pub b: Span,
    /// What a reader must know, one sentence each.
    pub notes: Vec<String>,
    /// What happened to each incident, the new ones first.
    pub incidents: Vec<IncidentChange>,
    /// The tables with their changes.
    pub tables: Vec<Table>,
}

/// What a side covers.
#[derive(Debug, Serialize)]
pub struct Span {
    /// Name of the dataset.
    pub dataset: String,
    /// Start of its first window; null without windows.
    pub from: Option<Time>,
    /// End of its last window.
    pub to: Option<Time>,
    /// Total length of its windows, in nanoseconds.
    pub covered_ns: i64,
    /// Number of its windows.
    pub windows: u64,
    /// Names of its observers.
    pub observers: Vec<String>,
}

/// The changes of one table.
#[derive(Debug, Serialize)]
pub struct Table {
    /// Name of the table.
    pub table: &'static str,
    /// The changes, the largest first; those that are unknown come last.
    pub changes: Vec<Change>,
    /// The number of smaller changes beyond the requested number.
    pub omitted: u64,
    /// The number of figures that are equal.
    pub equal: u64,
}

/// A figure on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What it measures.
    pub figure: String,
    /// Its unit; counts are for each second.
    #[serde(serialize_with = "unit")]
    pub unit: Unit,
    /// Whether it is a count for each second.
    pub per_second: bool,
    /// Its value in the first span; null if unknown.
    pub a: Option<f64>,
    /// Its value in the second one.
    pub b: Option<f64>,
    /// `more`, `less`, `new`, `gone`, `equal` or `unknown`.
    pub change: &'static str,
    /// The relative change, (b - a) / a; null for `new` and `unknown`.
    pub relative: Option<f64>,
}

fn unit<S: serde::Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit.name())
}

impl Change {
    fn new(figure: impl Into<String>, unit: Unit, per_second: bool, a: Option<f64>, b: Option<f64>) -> Self {
        let (change, relative) = match (a, b) {
            (Some(a), Some(b)) if a == b => ("equal", Some(0.0)),
            (Some(0.0), Some(_)) => ("new", None),
            (Some(_), Some(0.0)) => ("gone", Some(-1.0)),
            (Some(a), Some(b)) => (if b > a { "more" } else { "less" }, Some((b - a) / a)),
            _ => ("unknown", None),
        };
        Self {
            figure: figure.into(),
            unit,
            per_second,
            a,
            b,
            change,
            relative,
        }
    }

    /// The share of the larger value that changed: 1 for what is new or gone; `None` if unknown.
    fn size(&self) -> Option<f64> {
        let (a, b) = self.a.zip(self.b)?;
        Some((b - a).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE))
    }

    /// How far the two values are apart.
    fn distance(&self) -> f64 {
        self.a.zip(self.b).map_or(0.0, |(a, b)| (b - a).abs())
    }
}

impl Comparison {
    /// Compares two spans; lists at most `top` changes of a table.
    #[must_use]
    pub fn of(a: &Side, b: &Side, top: usize) -> Self {
        let tables = figures::tables(a, b);
        let (span_a, span_b) = (Span::of(&a.report), Span::of(&b.report));
        let none = Document::default();
        Self {
            notes: notes(a, b),
            incidents: incidents::changes(&Found::of(a, &span_a, &none), &Found::of(b, &span_b, &none)),
            a: span_a,
            b: span_b,
            tables: tables
                .into_iter()
                .map(|(name, changes)| Table::of(name, changes, top))
                .collect(),
        }
    }
}

impl Comparison {
    /// The changes of all tables as rows.
    #[must_use]
    pub fn rows(&self) -> Vec<ChangeRow> {
        let of = |table: &'static str, change: &Change| ChangeRow {
            compared: table.into(),
            figure: change.figure.clone().into(),
            unit: change.unit.name().into(),
            per_second: change.per_second,
            a: change.a,
            b: change.b,
            change: change.change.into(),
            relative_ratio: change.relative,
        };
        let tables = self.tables.iter();
        tables
            .flat_map(|table| table.changes.iter().map(move |change| of(table.table, change)))
            .collect()
    }
}

impl Span {
    fn of(report: &Report) -> Self {
        let span = report.span_ns();
        Self {
            dataset: report.origin.dataset.clone(),
            from: span.map(|(from, _)| Time(from)),
            to: span.map(|(_, to)| Time(to)),
            covered_ns: report.totals.covered_ns,
            windows: report.totals.windows,
            observers: report.observers.clone(),
        }
    }
}

impl Table {
    fn of(table: &'static str, mut changes: Vec<Change>, top: usize) -> Self {
        // No evidence on either side: nothing to compare.
        changes.retain(|change| change.a.is_some() || change.b.is_some());
        let all = changes.len();
        changes.retain(|change| change.change != "equal");
        let equal = all - changes.len();
        // Figures of flows and of each connection have one unit: there the distance matters more than the share.
        let is_flows = ["flows", "connections, each"].contains(&table);
        let key = |change: &Change| match change.size() {
            None => (f64::NEG_INFINITY, 0.0),
            Some(_) if is_flows => (change.distance(), 0.0),
            Some(size) => (size, change.distance()),
        };
        changes.sort_by(|one, other| {
            let (one, other) = (key(one), key(other));
            other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
        });
        let omitted = changes.len().saturating_sub(top);
        changes.truncate(top);
        Self {
            table,
            changes,
            omitted: omitted as u64,
            equal: equal as u64,
        }
    }
}

fn notes(a: &Side, b: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    let covered = [&a.report, &b.report].map(|report| report.totals.covered_ns);
    let (min, max) = (covered[0].min(covered[1]), covered[0].max(covered[1]));
    if min > 0 && (max - min) * 100 > max {
        let [a, b] = covered.map(crate::words::length);
        notes.push(format!(
            "The lengths differ: windows of A cover {a}, those of B {b}. Rates are compared, not sums."
        ));
    }
    for (name, side) in [("A", a), ("B", b)] {
        let report = &side.report;
        if report.is_empty() {
            notes.push(format!(
                "{name} has no windows of captured traffic: its figures are unknown."
            ));
        } else if !side.connections.is_tracked() {
            notes.push(format!(
                "{name} has no row of `connections`, which are written once a minute and at the end: its losses, \
                 retransmissions and round trips are unknown."
            ));
        }
        if !report.is_empty() && !report.flows.distinct_exact {
            notes.push(format!(
                "{name} lists only its largest flows: whether a flow that it does not list was there is unknown."
            ));
        }
        if report.totals.sums.capture_lost_packets > 0 {
            notes.push(format!("{name} has capture loss: its counts are lower bounds."));
        }
        if !report.origin.answered.is_empty() {
            let rows = report.origin.answered.join("; ");
            notes.push(format!("{name} is read from rollups: {rows}."));
        }
        for (file, reason) in &report.origin.unreadable {
            notes.push(format!(
                "{name}: {file} is unreadable, and its rows are missing: {reason}"
            ));
        }
        if report.origin.open_segments > 0 {
            let open = crate::words::plural(report.origin.open_segments as u64, "segment");
            notes.push(format!(
                "{name} has {open} that are not sealed yet; their rows are missing."
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{Change, Table};
    use rocescope_model::Unit;

    fn change(figure: &str, a: Option<f64>, b: Option<f64>) -> Change {
        Change::new(figure, Unit::Packets, true, a, b)
    }

    #[test]
    fn a_side_without_evidence_is_unknown_and_zero_is_not() {
        let kinds = [
            (Some(0.0), Some(2.0), "new", None),
            (Some(2.0), Some(0.0), "gone", Some(-1.0)),
            (Some(2.0), Some(3.0), "more", Some(0.5)),
            (Some(2.0), Some(1.0), "less", Some(-0.5)),
            (Some(2.0), Some(2.0), "equal", Some(0.0)),
            (None, Some(2.0), "unknown", None),
            (Some(0.0), None, "unknown", None),
        ];
        for (a, b, kind, relative) in kinds {
            let change = change("x", a, b);
            assert_eq!((change.change, change.relative), (kind, relative));
        }
    }

    #[test]
    fn the_largest_changes_come_first_and_unknown_ones_last() {
        let changes = vec![
            change("small", Some(100.0), Some(101.0)),
            change("unknown", None, Some(1e9)),
            change("unknown on both sides", None, None),
            change("equal", Some(1.0), Some(1.0)),
            change("gone", Some(1.0), Some(0.0)),
            change("half", Some(1000.0), Some(500.0)),
            change("new", Some(0.0), Some(7.0)),
        ];
        let table = Table::of("windows", changes, 4);
        let names: Vec<&str> = table.changes.iter().map(|change| change.figure.as_str()).collect();
        assert_eq!(names, ["new", "gone", "half", "small"]);
        assert_eq!((table.omitted, table.equal), (1, 1));
    }
}
