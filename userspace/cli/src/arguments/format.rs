//! The formats of rows, with one name each for every command. A command takes those that make sense for it.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text tables
    #[value(alias = "text")]
    Table,
    /// One JSON document
    Json,
    /// A line of JSON for each row, or for each window
    Jsonl,
    /// A line of names, and one for each row (RFC 4180)
    Csv,
    /// Markdown for issues and wikis
    #[value(alias = "md")]
    Markdown,
}

/// Every format.
pub const ALL: &[Format] = &[
    Format::Table,
    Format::Json,
    Format::Jsonl,
    Format::Csv,
    Format::Markdown,
];

/// Those of rows that come without end: a table of Markdown would have none either.
pub const ENDLESS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl, Format::Csv];

/// Takes these formats.
pub fn formats(taken: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let named = taken.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(named).try_map(|name| Format::from_str(&name, false))
}
