//! Filters as arguments.

use rocescope_model::Row;
use rocescope_model::filter::{Filter, FilterError, RowFilter};
use rocescope_pipeline::filter::RunFilter;

/// Reads a filter.
///
/// # Errors
/// The sentence, and below it the place.
pub fn filter(text: &str) -> Result<Filter, FilterError> {
    text.parse()
}

/// Reads a filter of packets.
///
/// # Errors
/// The sentence, and below it the place.
pub fn run_filter(text: &str) -> Result<RunFilter, FilterError> {
    RunFilter::new(&text.parse::<Filter>()?)
}

/// Reads a filter of the rows of a table.
///
/// # Errors
/// As [`run_filter`].
pub fn row_filter<R: Row>(text: &str) -> Result<RowFilter, FilterError> {
    RowFilter::new(&text.parse()?, R::TABLE)
}
