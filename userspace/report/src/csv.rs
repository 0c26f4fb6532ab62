//! One table as CSV (RFC 4180): a line of column names, then rows, numbers in full.

use crate::Report;
use crate::collect::Connection;
use rocescope_model::{Cells, ConnectionRow, Time, Type, Value, WindowRow};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The top flows, summed over the windows.
    Flows,
    /// The connections with most trouble, a row a direction.
    Connections,
    /// All opcodes, summed over the windows.
    Opcodes,
    /// The most telling events.
    Events,
    /// Windows, or as many neighbours together as `window_ns` says.
    Windows,
}

/// The table with the columns of the registry; sketches and lists are left out, and times of sums
/// are those of the whole.
#[must_use]
pub fn table(report: &Report, table: Table) -> String {
    match table {
        Table::Flows => rows(&report.flows.rows),
        Table::Opcodes => rows(&report.opcodes.rows),
        Table::Events => rows(&report.events.telling(usize::MAX)),
        Table::Connections => {
            let worst = report.connections.worst.iter();
            let directions = worst.flat_map(Connection::directions);
            rows(&directions.cloned().collect::<Vec<ConnectionRow>>())
        }
        Table::Windows => rows(&windows(report)),
    }
}

/// Periods as windows of their length.
pub(crate) fn windows(report: &Report) -> Vec<WindowRow> {
    let length = report.series.period_ns();
    let periods = report.series.iter().map(|(start_ns, period)| WindowRow {
        window_start: Time(start_ns),
        window_start_ns: start_ns,
        window_ns: length,
        ..period.sums.clone()
    });
    periods.collect()
}

fn rows(cells: &dyn Cells) -> String {
    let columns = cells.table().columns;
    let kept: Vec<usize> = (0..columns.len())
        .filter(|at| {
            let kind = columns.get(*at).map(|column| column.kind);
            !matches!(kind, Some(Type::Bytes | Type::ListI64))
        })
        .collect();
    let names = kept.iter().filter_map(|at| columns.get(*at));
    let mut out = line(names.map(|column| column.name.to_owned()));
    for row in 0..cells.rows() {
        out.push_str(&line(kept.iter().map(|at| field(&cells.value(row, *at)))));
    }
    out
}

fn line(fields: impl Iterator<Item = String>) -> String {
    fields.collect::<Vec<_>>().join(",") + "\r\n"
}

fn field(value: &Value<'_>) -> String {
    match value {
        Value::Null | Value::Bytes(_) | Value::ListI64(_) => String::new(),
        Value::I64(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Time(time) => time.to_string(),
        Value::Text(text) => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, rows};
    use rocescope_model::EventRow;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b\n"), "\"a\"\"b\n\"");
    }

    #[test]
    fn no_rows_are_a_line_of_names() {
        let text = rows(&Vec::<EventRow>::new());
        assert!(text.starts_with("observer,time,time_ns,kind,"));
        assert_eq!(text.lines().count(), 1);
    }
}
