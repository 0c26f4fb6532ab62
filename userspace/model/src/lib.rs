//! Every table of the dataset and its columns, once.
//!
//! A table is written down in one place (a file in [`tables`]) with the `table!` macro. From that
//! one definition come the typed row that the pipeline fills, the [`Table`] that the store turns
//! into an Arrow schema, the JSON keys, the columns of text output and the pages of documentation.
//! A column added there appears everywhere.
//!
//! What this crate is not: it does no I/O, holds no state, knows no Parquet.
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@column`] | [`Table`], [`Column`], their [`Type`] and [`Unit`] |
//! | [`aggregate`] | how a column adds up over time and over observers |
//! | [`value`] | [`Value`]: any cell of any row, borrowed |
//! | [`cell`] | [`Cell`]: the Rust types that may stand in a row, and how each becomes a `Value` and back |
//! | [`row`] | [`Row`] and [`Cells`]: rows one at a time by type, or many behind one object |
//! | [`tables`] | the rows: one file a table, and [`WindowRows`], what a finished window hands on |
//! | [`text`], [`time`] | the two small types of cells that `core` does not have |
//! | [`json`] | the one JSON writer: any structure, and rows as objects |
//! | [`render`], [`human`] | rows as an aligned text table, with or without human units |
//! | [`csv`] | rows as CSV |
//! | [`filter`] | the filter language over the columns |
//! | [`footer`] | the metadata keys of a segment |
//! | [`mod@nearest`] | what was probably meant by a word that nothing is called |
//! | [`schema`], [`markdown`] | the registry as text and JSON, and the page `docs/formats.md` |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aggregate;
pub mod cell;
pub mod column;
pub mod csv;
pub mod filter;
pub mod footer;
pub mod human;
pub mod json;
pub mod markdown;
pub mod nearest;
pub mod render;
pub mod row;
pub mod schema;
pub mod tables;
pub mod text;
pub mod time;
pub mod value;

pub use aggregate::{Aggregate, Over, Rule};
pub use cell::Cell;
pub use column::{Column, Table, Type, Unit};
pub use row::{Cells, Mismatch, Row};
pub use tables::{
    CAPTURE_TABLES, ConnectionRow, DERIVED_TABLES, DIAGNOSIS_TABLES, EventRow, FlowRow, LinkRow,
    MeshRows, OpcodeRow, PROBE_TABLES, PairRow, PathRow, ProbeRow, SlaRow, TABLES, VerdictRow,
    WindowRow, WindowRows,
};
pub use text::Text;
pub use time::Time;
pub use value::Value;

/// Version of the dataset's layout and tables, in the footer of every segment.
///
/// Rises when a reader of the old version would misread a new file; see [`markdown::page`] for the
/// rule.
pub const FORMAT_VERSION: u32 = 1;
