//! Filters as arguments.

use rocescope_model::Row;
use rocescope_model::filter::{Filter, FilterError, RowFilter};
use rocescope_pipeline::filter::RunFilter;

/// Parses a filter.
///
/// # Errors
/// The message, and the position below it.
pub fn filter(text: &str) -> Result<Filter, FilterError> {
    text.parse()
}

/// Parses a filter of packets.
///
/// # Errors
/// The message, and the position below it.
pub fn run_filter(text: &str) -> Result<RunFilter, FilterError> {
    RunFilter::parse(text)
}

/// Parses a filter of the rows of a table.
///
/// # Errors
/// Those of [`run_filter`].
pub fn row_filter<R: Row>(text: &str) -> Result<RowFilter, FilterError> {
    let columns: Vec<&str> = R::TABLE.columns.iter().map(|column| column.name).collect();
    RowFilter::new(&Filter::parse_for(text, &columns, R::TABLE.name)?, R::TABLE)
}
