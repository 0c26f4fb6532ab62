//! Rows as CSV: RFC 4180, except that lines end in LF. Null is empty, instants are RFC 3339, numbers are written in
//! full, sketches and lists are omitted.

use crate::{Cells, Column, Table, Type, Value};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Formats the line of column names.
#[must_use]
pub fn heading(table: &Table) -> String {
    line(columns(table).map(|(_, column)| column.name.to_owned()))
}

/// Formats one line for each row.
#[must_use]
pub fn rows(cells: &dyn Cells) -> String {
    let table = cells.table();
    (0..cells.rows())
        .map(|row| line(columns(table).map(|(at, _)| field(&cells.value(row, at)))))
        .collect()
}

fn columns(table: &Table) -> impl Iterator<Item = (usize, &'static Column)> {
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, column)| !matches!(column.kind, Type::Bytes | Type::ListI64))
}

fn line(fields: impl Iterator<Item = String>) -> String {
    fields.collect::<Vec<_>>().join(",") + "\n"
}

fn field(value: &Value<'_>) -> String {
    match value {
        Value::Null | Value::Bytes(_) | Value::Sparse(_) | Value::ListI64(_) => String::new(),
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
    use super::{heading, quoted, rows};
    use crate::{EventRow, Row};
    use std::borrow::ToOwned;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b\n"), "\"a\"\"b\n\"");
        let events = vec![EventRow {
            detail: "a \"quoted\", word".to_owned().into(),
            count: 2,
            ..EventRow::default()
        }];
        let text = rows(&events);
        assert!(text.ends_with(",2,\"a \"\"quoted\"\", word\",\n"), "{text}");
    }

    #[test]
    fn names_are_a_line_of_their_own() {
        let names = heading(EventRow::TABLE);
        assert!(names.starts_with("observer,time,time_ns,kind,"));
        assert_eq!(names.lines().count(), 1);
        assert_eq!(rows(&Vec::<EventRow>::new()), "");
    }
}
