//! Sorts rows by a column.

use core::cmp::Ordering;
use core::net::IpAddr;
use rocescope_model::{Cells, Column, Table, Type, Value};

/// The position of the column `name`.
///
/// # Errors
/// A message with the names of all columns.
pub fn column(table: &Table, name: &str) -> Result<usize, String> {
    table.position(name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        format!(
            "{} has no column `{name}`; expected one of {}",
            table.name,
            names.join(", ")
        )
    })
}

/// Whether the largest comes first by default: for numbers and times, not for names.
#[must_use]
pub fn is_descending(column: &Column) -> bool {
    // The first rank is the largest.
    (column.kind.is_number() || column.kind == Type::Time) && column.name != "rank"
}

/// Sorts these rows by a column; a stable sort.
#[must_use]
pub fn order(cells: &dyn Cells, rows: impl Iterator<Item = usize>, column: usize, descending: bool) -> Vec<u32> {
    let mut keyed: Vec<(SortKey, u32)> = rows
        .map(|row| (SortKey::of(&cells.value(row, column)), row as u32))
        .collect();
    keyed.sort_by(|(a, _), (b, _)| a.compare(b, descending));
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// What rows are compared by.
#[derive(Debug)]
enum SortKey {
    Null,
    Integer(i64),
    Number(f64),
    Address(IpAddr),
    Text(String),
}

impl SortKey {
    fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Null | Value::Bytes(_) | Value::Sparse(_) | Value::ListI64(_) => Self::Null,
            Value::I64(number) => Self::Integer(*number),
            Value::F64(number) => Self::Number(*number),
            Value::Bool(truth) => Self::Integer(i64::from(*truth)),
            Value::Time(time) => Self::Integer(time.0),
            Value::Text(text) => match text.parse() {
                Ok(address) => Self::Address(address),
                Err(_) => Self::Text(text.to_string()),
            },
        }
    }

    /// Unknown values come last in both directions.
    fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Null, Self::Null) => return Ordering::Equal,
            (Self::Null, _) => return Ordering::Greater,
            (_, Self::Null) => return Ordering::Less,
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Address(a), Self::Address(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            // A column has one type; addresses come before other text.
            (Self::Address(_), _) => Ordering::Less,
            (_, _) => Ordering::Greater,
        };
        if descending { order.reverse() } else { order }
    }
}
