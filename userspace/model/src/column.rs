//! The description of a table and of its columns.

use crate::{Aggregate, Rollup, Rule};
use serde::{Serialize, Serializer};

/// A table of the dataset: a directory `<root>/<name>/` of segments that all have these columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Name of the table and of its directory.
    pub name: &'static str,
    /// What one row describes.
    pub help: &'static str,
    /// What rollups have of its rows.
    pub rollup: Rollup,
    /// The columns, in file order.
    pub columns: &'static [Column],
}

impl Table {
    /// Returns the position of the column with this name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the position of the column that determines the partition of a row: the first of type [`Type::Time`].
    #[must_use]
    pub fn partition_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.kind == Type::Time)
    }

    /// Whether rollups have rows of this table.
    #[must_use]
    pub const fn has_rollups(&self) -> bool {
        matches!(self.rollup, Rollup::Merged { .. } | Rollup::Kept)
    }

    /// The positions of the columns that name the object of a row: rows with the same cells there are merged over time.
    /// The number of an analysis is none of them: rows of earlier analyses do not count.
    pub fn object(&self) -> impl Iterator<Item = usize> + use<> {
        let by = match self.rollup {
            Rollup::Merged { by } => by,
            _ => &[],
        };
        let names = move |column: &Column| {
            let is_named = column.aggregate.time == Rule::Same && column.name != "revision";
            is_named || by.contains(&column.name)
        };
        let columns: &'static [Column] = self.columns;
        (0..columns.len()).filter(move |at| names(&columns[*at]))
    }
}

/// One column of a [`Table`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name in files and JSON. Ends with the suffix of the unit, if the unit has one.
    pub name: &'static str,
    /// Type of the cells.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Whether a cell may be null.
    pub nullable: bool,
    /// How cells are merged when several rows become one.
    pub aggregate: Aggregate,
    /// Heading in text output.
    #[serde(skip)]
    pub title: &'static str,
    /// Whether text output shows the column by default.
    #[serde(skip)]
    pub shown: bool,
    /// Meaning of a cell, in one or two sentences.
    pub help: &'static str,
}

/// Type of a column. DuckDB, polars, pandas and Spark read all of them with default settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Signed 64-bit integer. There is no unsigned type: Spark reads `u64` as a decimal.
    I64,
    /// 64-bit float.
    F64,
    /// True or false.
    Bool,
    /// UTF-8. Addresses and names.
    Text,
    /// Instant in UTC, stored in microseconds: Spark rejects nanosecond timestamps.
    Time,
    /// Serialized sketch.
    Bytes,
    /// List of signed 64-bit integers.
    ListI64,
}

impl Type {
    /// Returns the Arrow name of the type, for documentation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I64 => "int64",
            Self::F64 => "float64",
            Self::Bool => "bool",
            Self::Text => "utf8",
            Self::Time => "timestamp[us, UTC]",
            Self::Bytes => "binary",
            Self::ListI64 => "list<int64>",
        }
    }

    /// Whether text output aligns these cells to the right.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::I64 | Self::F64)
    }
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Unit of the numbers of a column. Every unit except [`Unit::None`] is part of the column's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A name, an identifier, a state, or a number whose unit depends on the row.
    None,
    /// Bytes.
    Bytes,
    /// RoCE packets.
    Packets,
    /// Ethernet frames, RoCE or not.
    Frames,
    /// InfiniBand messages.
    Messages,
    /// Unidirectional flows.
    Flows,
    /// Rows of the `events` table.
    Events,
    /// A duration in nanoseconds.
    Nanoseconds,
    /// An instant in nanoseconds since 1970-01-01 00:00 UTC.
    UnixNanoseconds,
    /// Bits per second.
    BitsPerSecond,
    /// Packets per second.
    PacketsPerSecond,
    /// Ratio: 1 is 100 %.
    Ratio,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 12] = [
        Self::None,
        Self::Bytes,
        Self::Packets,
        Self::Frames,
        Self::Messages,
        Self::Flows,
        Self::Events,
        Self::Nanoseconds,
        Self::UnixNanoseconds,
        Self::BitsPerSecond,
        Self::PacketsPerSecond,
        Self::Ratio,
    ];

    /// Returns the last word of the name of every column with this unit.
    #[must_use]
    pub const fn suffix(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Bytes => Some("bytes"),
            Self::Packets => Some("packets"),
            Self::Frames => Some("frames"),
            Self::Messages => Some("messages"),
            Self::Flows => Some("flows"),
            Self::Events => Some("events"),
            Self::Nanoseconds | Self::UnixNanoseconds => Some("ns"),
            Self::BitsPerSecond => Some("bps"),
            Self::PacketsPerSecond => Some("pps"),
            Self::Ratio => Some("ratio"),
        }
    }

    /// Returns the name of the unit for documentation; empty for [`Unit::None`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Frames => "frames",
            Self::Messages => "messages",
            Self::Flows => "flows",
            Self::Events => "events",
            Self::Nanoseconds => "ns",
            Self::UnixNanoseconds => "ns since 1970 UTC",
            Self::BitsPerSecond => "bit/s",
            Self::PacketsPerSecond => "packets/s",
            Self::Ratio => "ratio",
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Type, Unit};
    use crate::{DERIVED_TABLES, TABLES};
    use std::vec::Vec;

    fn last_word(name: &str) -> &str {
        name.rsplit('_').next().unwrap_or(name)
    }

    #[test]
    fn names_end_in_their_unit() {
        for table in TABLES.iter().chain(DERIVED_TABLES) {
            for column in table.columns {
                let named = Unit::ALL
                    .into_iter()
                    .find(|unit| unit.suffix() == Some(last_word(column.name)));
                assert_eq!(
                    column.unit.suffix(),
                    named.and_then(Unit::suffix),
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
        }
    }

    #[test]
    fn every_timestamp_has_a_column_in_nanoseconds() {
        for table in TABLES {
            let times: Vec<usize> = (0..table.columns.len())
                .filter(|&i| table.columns[i].kind == Type::Time)
                .collect();
            assert_eq!(times.len(), 1, "{} has one partition time", table.name);
            assert_eq!(table.partition_column(), times.first().copied());
            for i in times {
                let (time, nanos) = (&table.columns[i], &table.columns[i + 1]);
                assert_eq!(nanos.name, std::format!("{}_ns", time.name));
                assert_eq!(nanos.unit, Unit::UnixNanoseconds);
                assert_eq!(nanos.kind, Type::I64);
                assert!(!time.nullable && !nanos.nullable);
            }
        }
    }

    #[test]
    fn every_column_has_a_unique_name_and_a_help_text() {
        for table in TABLES {
            for (i, column) in table.columns.iter().enumerate() {
                assert_eq!(table.position(column.name), Some(i), "{}", column.name);
                assert!(column.help.ends_with('.'), "{}.{}", table.name, column.name);
                assert!(!column.title.is_empty());
            }
        }
    }
}
