//! JSON by serde: cells, rows as objects keyed by column name, and documents that contain both.
//!
//! Instants are RFC 3339 text with nine decimals, sketches are base64 text, infinite and NaN floats are null. Integers
//! are written in full, even beyond 2^53: read `flow_hash` with a parser that keeps 64 bits.

use crate::{Cells, Column, Time, Type, Value};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use base64::display::Base64Display;
use base64::prelude::BASE64_STANDARD;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Formats a document with one member per line, indented by two spaces per level.
#[must_use]
pub fn pretty(document: &impl Serialize) -> String {
    // Only keys that are not strings can fail, and there are none.
    serde_json::to_string_pretty(document).unwrap_or_default()
}

/// Formats a document on one line.
#[must_use]
pub fn compact(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

/// Formats rows as one object a line, without sketches.
#[must_use]
pub fn lines(cells: &dyn Cells) -> String {
    let line = |row| compact(&RowAt(cells, row, &no_sketch)) + "\n";
    (0..cells.rows()).map(line).collect()
}

/// An object with keys known only at run time, in the order of this list.
#[derive(Clone, Debug)]
pub struct Object<K, V>(pub Vec<(K, V)>);

impl<K, V> FromIterator<(K, V)> for Object<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self(members.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Object<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Rows as an array of objects with the columns that `wanted` selects.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, C: ?Sized, W>(pub &'a C, pub W);

impl<C: Cells + ?Sized, W: Fn(&Column) -> bool> Serialize for Rows<'_, C, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(cells, wanted) = self;
        serializer.collect_seq((0..cells.rows()).map(|at| RowAt(*cells, at, wanted)))
    }
}

/// One row as an object with the columns that `wanted` selects.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a, R, W>(pub &'a R, pub W);

impl<R: crate::Row, W: Fn(&Column) -> bool> Serialize for Row<'_, R, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(row, wanted) = self;
        RowAt(core::slice::from_ref(*row), 0, wanted).serialize(serializer)
    }
}

struct RowAt<'a, C: ?Sized, W>(&'a C, usize, &'a W);

impl<C: Cells + ?Sized, W: Fn(&Column) -> bool> Serialize for RowAt<'_, C, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(cells, row, wanted) = self;
        let columns = cells.table().columns.iter().enumerate();
        let columns = columns.filter(|(_, column)| wanted(column));
        serializer.collect_map(columns.map(|(at, column)| (column.name, cells.value(*row, at))))
    }
}

/// Selects every column except the sketches, which are useful only to programs that read the dataset.
#[must_use]
pub fn no_sketch(column: &Column) -> bool {
    column.kind != Type::Bytes
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::I64(number) => number.serialize(serializer),
            // In full: serde_json would write 1.0 and 1e-6.
            Value::F64(number) if number.is_finite() => RawValue::from_string(number.to_string())
                .map_err(S::Error::custom)?
                .serialize(serializer),
            Value::Null | Value::F64(_) => serializer.serialize_none(),
            Value::Bool(truth) => truth.serialize(serializer),
            Value::Text(text) => text.serialize(serializer),
            Value::Time(time) => time.serialize(serializer),
            Value::Bytes(bytes) => serializer.collect_str(&Base64Display::new(bytes, &BASE64_STANDARD)),
            Value::Sparse(bytes) => Value::Bytes(&bytes.to_vec()).serialize(serializer),
            Value::ListI64(list) => list.serialize(serializer),
        }
    }
}

/// Serializes an optional float of a document in the same format as a cell.
///
/// # Errors
/// Returns the error of the serializer.
pub fn float<N: Copy + Into<Option<f64>>, S: Serializer>(number: &N, serializer: S) -> Result<S::Ok, S::Error> {
    let number: Option<f64> = (*number).into();
    number.map_or(Value::Null, Value::F64).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::{Object, Row, Rows, compact, no_sketch, pretty};
    use crate::{Column, OpcodeRow, Time, Value, WindowRow};
    use std::vec;

    #[test]
    fn values_of_every_type() {
        let values = [
            Value::Null,
            Value::I64(i64::MIN),
            Value::F64(0.5),
            Value::F64(2.0),
            Value::F64(1e-6),
            Value::F64(f64::NAN),
            Value::Bool(true),
            Value::Text("a\"b\\c\n\u{1}é/".into()),
            Value::Time(Time(1)),
            Value::Bytes(b"fo"),
            Value::ListI64(&[1, -2]),
        ];
        assert_eq!(
            compact(&values),
            "[null,-9223372036854775808,0.5,2,0.000001,null,true,\"a\\\"b\\\\c\\n\\u0001é/\",\
             \"1970-01-01T00:00:00.000000001Z\",\"Zm8=\",[1,-2]]"
        );
    }

    #[test]
    fn objects_keep_the_order_of_their_members() {
        let object = Object(vec![("b", 1), ("a", 2)]);
        assert_eq!(pretty(&object), "{\n  \"b\": 1,\n  \"a\": 2\n}");
    }

    #[test]
    fn rows_are_objects_by_column_name() {
        let opcodes = vec![OpcodeRow {
            opcode: "CNP".into(),
            packets: 4,
            ..OpcodeRow::default()
        }];
        let text = pretty(&Rows(&opcodes, |_: &Column| true));
        assert!(text.contains("\"opcode\": \"CNP\",\n"), "{text}");
        assert!(text.contains("\"packets\": 4,\n"), "{text}");
        assert!(text.starts_with("[\n  {\n    \"observer\""), "{text}");
        let wanted = |column: &Column| column.name == "packets";
        assert_eq!(compact(&Row(&opcodes[0], wanted)), "{\"packets\":4}");
        let window = compact(&Row(&WindowRow::default(), no_sketch));
        assert!(!window.contains("hll_flows"), "{window}");
    }
}
