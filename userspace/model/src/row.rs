//! Rows: one typed row ([`Row`]), or many rows behind one trait object ([`Cells`]).

use crate::recent::Memo;
use crate::{Over, StoredCell, Table, Value};
use alloc::vec::Vec;
use core::fmt;

/// A typed row of one table. Implemented by the `table!` macro only.
pub trait Row: Sized + Default + 'static {
    /// The table of this row.
    const TABLE: &'static Table;

    /// Returns the cell of the column at this position; null beyond the last.
    fn value(&self, column: usize) -> Value<'_>;

    /// Reads a row from the cells that `cell` returns for each position in order.
    ///
    /// # Errors
    /// Returns a [`Mismatch`] for the first column whose value does not fit its field.
    fn read<'a>(cell: impl FnMut(usize) -> Value<'a>) -> Result<Self, Mismatch>;

    /// What makes it faster to read many rows one after another.
    type Memo: Memo;

    /// Same as [`read`](Self::read), for the next of many rows: texts that repeat are shared, and parsed once.
    ///
    /// # Errors
    /// Same as [`read`](Self::read).
    fn read_next<C: StoredCell>(memo: &mut Self::Memo, cell: impl FnMut(usize) -> C) -> Result<Self, Mismatch>;

    /// Merges the next row, in time or in the list of observers, into this one.
    fn merge(&mut self, other: &Self, over: Over);

    /// Recomputes the ratios and rates that depend on other columns.
    fn recompute(&mut self);

    /// Returns a copy without sketches and histograms, which use most of the memory.
    #[must_use]
    fn without_sketches(&self) -> Self;
}

/// Rows of one table without their Rust type, as stores and renderers read them.
///
/// Slices and vectors of rows implement it, and so do batches read from a dataset.
pub trait Cells {
    /// Returns the table of these rows.
    fn table(&self) -> &'static Table;

    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Returns the cell of a row and column; null beyond the last of either.
    fn value(&self, row: usize, column: usize) -> Value<'_>;
}

impl<R: Row> Cells for [R] {
    fn table(&self) -> &'static Table {
        R::TABLE
    }

    fn rows(&self) -> usize {
        self.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.get(row).map_or(Value::Null, |row| row.value(column))
    }
}

impl<R: Row> Cells for &[R] {
    fn table(&self) -> &'static Table {
        R::TABLE
    }

    fn rows(&self) -> usize {
        self.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        (**self).value(row, column)
    }
}

impl<R: Row> Cells for Vec<R> {
    fn table(&self) -> &'static Table {
        R::TABLE
    }

    fn rows(&self) -> usize {
        self.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.as_slice().value(row, column)
    }
}

/// A value that does not fit the field of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the table.
    pub table: &'static str,
    /// Name of the column.
    pub column: &'static str,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "column {} of table {}: the value has another type, is out of range, or is null",
            self.column, self.table
        )
    }
}

impl core::error::Error for Mismatch {}

/// Defines a table: its row type, its registry entry and the generic access to its cells.
///
/// ```text
/// table! {
///     /// What one row describes.
///     PortRow = "ports" [merged] {
///         /// Meaning of the cell.
///         received_bytes: u64, Bytes, [sum], show "Received";
///     }
/// }
/// ```
///
/// After the name of the table is what rollups have of its rows, a [`Rollup`](crate::Rollup): `[merged]`, `[merged by
/// more, columns]`, `[kept]`, `[raw "why"]`, or `[derived]` for a table that is not stored.
///
/// A line is: name, type (see [`Cell`](crate::Cell); an `Option` makes the column nullable), [`Unit`](crate::Unit),
/// aggregation rule, `show` or `hide` in text output, heading. The documentation of the field is the help of the
/// column.
///
/// The aggregation rule is a [`Rule`](crate::Rule) in lower case, `[max]`, or two if the rules over time and over
/// observers differ: `[sum | whole]`. Rules that depend on other columns name them: `[lost / lost + seen]`, or `[rate
/// frame_bytes]`.
macro_rules! table {
    (
        $(#[doc = $help:literal])+
        $row:ident = $name:literal [$($rollup:tt)+] {$(
            $(#[doc = $column_help:literal])+
            $field:ident: $cell:ty, $unit:ident, $rule:tt, $shown:ident $title:literal;
        )+}
    ) => {
        $(#[doc = $help])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $row {$(
            $(#[doc = $column_help])+
            pub $field: $cell,
        )+}

        impl Default for $row {
            fn default() -> Self {
                Self { $($field: $crate::Cell::empty(),)+ }
            }
        }

        const _: () = {
        /// One for each column.
        #[derive(Debug, Default)]
        pub struct Memo {$(
            $field: <$cell as $crate::Cell>::Memo,
        )+}

        impl $crate::recent::Memo for Memo {
            fn next_batch(&mut self) {
                $($crate::recent::Memo::next_batch(&mut self.$field);)+
            }
        }

        impl $crate::Row for $row {
            type Memo = Memo;

            const TABLE: &'static $crate::Table = &$crate::Table {
                name: $name,
                help: concat!($($help),+).trim_ascii(),
                rollup: table!(@rollup $($rollup)+),
                columns: &[$($crate::Column {
                    name: stringify!($field),
                    kind: <$cell as $crate::Cell>::TYPE,
                    nullable: <$cell as $crate::Cell>::NULLABLE,
                    unit: $crate::Unit::$unit,
                    aggregate: table!(@aggregate $rule),
                    title: $title,
                    shown: table!(@$shown),
                    help: concat!($($column_help),+).trim_ascii(),
                },)+],
            };

            fn value(&self, column: usize) -> $crate::Value<'_> {
                const CELLS: &[fn(&$row) -> $crate::Value<'_>] =
                    &[$(|row| $crate::Cell::value(&row.$field)),+];
                CELLS.get(column).map_or($crate::Value::Null, |cell| cell(self))
            }

            fn read<'a>(
                mut cell: impl FnMut(usize) -> $crate::Value<'a>,
            ) -> Result<Self, $crate::Mismatch> {
                let mut columns = 0..;
                let mut next = || columns.next().map_or($crate::Value::Null, &mut cell);
                Ok(Self {$(
                    $field: $crate::Cell::read(next()).ok_or($crate::Mismatch {
                        table: $name,
                        column: stringify!($field),
                    })?,
                )+})
            }

            fn read_next<C: $crate::StoredCell>(
                memo: &mut Memo,
                mut cell: impl FnMut(usize) -> C,
            ) -> Result<Self, $crate::Mismatch> {
                let mut column = 0;
                let mut next = || {
                    column += 1;
                    cell(column - 1)
                };
                Ok(Self {$(
                    $field: $crate::Cell::read_next(&next(), &mut memo.$field).ok_or($crate::Mismatch {
                        table: $name,
                        column: stringify!($field),
                    })?,
                )+})
            }

            fn merge(&mut self, other: &Self, over: $crate::Over) {
                $(table!(@span $rule self other $field);)+
                $(
                    let rule = const { table!(@aggregate $rule) }.over(over);
                    $crate::Cell::merge(&mut self.$field, &other.$field, rule);
                )+
                self.recompute();
            }

            fn recompute(&mut self) {
                $(table!(@recompute $rule self $field $unit);)+
            }

            fn without_sketches(&self) -> Self {
                Self { $($field: table!(@copy $rule self $field),)+ }
            }
        }
        };

        impl serde::Serialize for $row {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$crate::json::Row(self, |_: &_| true), serializer)
            }
        }
    };
    (@rollup merged) => { $crate::Rollup::Merged { by: &[] } };
    (@rollup merged by $($by:ident),+) => { $crate::Rollup::Merged { by: &[$(stringify!($by)),+] } };
    (@rollup kept) => { $crate::Rollup::Kept };
    (@rollup raw $reason:literal) => { $crate::Rollup::Raw { reason: $reason } };
    (@rollup derived) => { $crate::Rollup::Derived };
    (@aggregate [rate $of:ident]) => {
        table!(@both $crate::Rule::Rate(stringify!($of)))
    };
    (@aggregate [$rule:ident]) => { table!(@both table!(@rule $rule)) };
    (@aggregate [$time:ident | $observers:ident]) => {
        $crate::Aggregate { time: table!(@rule $time), observers: table!(@rule $observers) }
    };
    (@aggregate [$of:ident $(+ $more:ident)* / $among:ident $(+ $others:ident)*]) => {
        table!(@both $crate::Rule::Ratio {
            of: &[stringify!($of) $(, stringify!($more))*],
            among: &[stringify!($among) $(, stringify!($others))*],
        })
    };
    (@both $rule:expr) => { $crate::Aggregate { time: $rule, observers: $rule } };
    (@rule same) => { $crate::Rule::Same };
    (@rule sum) => { $crate::Rule::Sum };
    (@rule whole) => { $crate::Rule::Whole };
    (@rule min) => { $crate::Rule::Min };
    (@rule max) => { $crate::Rule::Max };
    (@rule first) => { $crate::Rule::First };
    (@rule last) => { $crate::Rule::Last };
    (@rule any) => { $crate::Rule::Any };
    (@rule span) => { $crate::Rule::Span };
    (@rule sketch) => { $crate::Rule::Sketch };
    (@rule none) => { $crate::Rule::None };
    // Before `window_start_ns` is merged.
    (@span [span] $self:ident $other:ident $field:ident) => {
        let end_ns = ($self.window_start_ns.saturating_add($self.$field))
            .max($other.window_start_ns.saturating_add($other.$field));
        $self.$field = end_ns.saturating_sub($self.window_start_ns.min($other.window_start_ns));
    };
    (@span $rule:tt $self:ident $other:ident $field:ident) => {};
    (@recompute [rate $of:ident] $self:ident $field:ident $unit:ident) => {
        let of = $crate::Cell::value(&$self.$of);
        let rate = $crate::aggregate::rate(of, $crate::Unit::$unit, $self.window_ns);
        $self.$field = $crate::aggregate::computed(rate);
    };
    (
        @recompute [$of:ident $(+ $more:ident)* / $among:ident $(+ $others:ident)*]
        $self:ident $field:ident $unit:ident
    ) => {
        let of = [$crate::Cell::value(&$self.$of) $(, $crate::Cell::value(&$self.$more))*];
        let among = [$crate::Cell::value(&$self.$among) $(, $crate::Cell::value(&$self.$others))*];
        $self.$field = $crate::aggregate::computed($crate::aggregate::ratio(&of, &among));
    };
    (@recompute $rule:tt $self:ident $field:ident $unit:ident) => {};
    (@copy [sketch] $self:ident $field:ident) => { $crate::Cell::empty() };
    (@copy [$time:ident | sketch] $self:ident $field:ident) => { $crate::Cell::empty() };
    (@copy $rule:tt $self:ident $field:ident) => { $self.$field.clone() };
    (@show) => { true };
    (@hide) => { false };
}

pub(crate) use table;

#[cfg(test)]
mod tests {
    use super::{Cells, Mismatch, Row};
    use crate::{FlowRow, TABLES, Value};
    use std::vec;

    #[test]
    fn a_row_comes_back_from_its_values() {
        let row = FlowRow {
            observer: "rail-3".into(),
            packets: 7,
            vlan: Some(12),
            ..FlowRow::default()
        };
        assert_eq!(FlowRow::read(|column| row.value(column)), Ok(row.clone()));
        assert_eq!(row.value(usize::MAX), Value::Null);
    }

    #[test]
    fn a_value_of_another_type_names_its_column() {
        let row = FlowRow::default();
        let packets = FlowRow::TABLE.position("packets").unwrap();
        let read = FlowRow::read(|column| match column {
            c if c == packets => Value::Bool(true),
            c => row.value(c),
        });
        assert_eq!(
            read,
            Err(Mismatch {
                table: "flows",
                column: "packets"
            })
        );
    }

    #[test]
    fn every_default_row_has_values_of_its_columns_types() {
        for cells in crate::WindowRows::one_default_row_each().tables() {
            assert_eq!(cells.rows(), 1);
            for (i, column) in cells.table().columns.iter().enumerate() {
                let kind = cells.value(0, i).kind();
                assert_eq!(kind.is_none(), column.nullable, "{}", column.name);
                assert!(kind.is_none_or(|kind| kind == column.kind));
            }
            assert!(TABLES.contains(&cells.table()));
        }
        assert_eq!(vec![FlowRow::default()].value(1, 0), Value::Null);
    }
}
