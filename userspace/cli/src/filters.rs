//! Filters as arguments. Names of hosts are resolved once the hosts file is read: see `arguments::settle`.

use rocescope_model::filter::{Filter, FilterError, Names, RowFilter};
use rocescope_model::{OWNED_CONNECTIONS, Row, Table};
use rocescope_pipeline::filter::RunFilter;

/// Parses a filter.
///
/// # Errors
/// The message, and the position below it.
pub fn filter(text: &str) -> Result<Filter, FilterError> {
    Filter::parse_with(text, Names::Later)
}

/// Parses a filter of packets.
///
/// # Errors
/// The message, and the position below it.
pub fn run_filter(text: &str) -> Result<RunFilter, FilterError> {
    RunFilter::parse(text, Names::Later)
}

/// Parses a filter of packets for a command without a hosts file.
///
/// # Errors
/// The message, and the position below it.
pub fn address_filter(text: &str) -> Result<RunFilter, FilterError> {
    RunFilter::parse(text, Names::None)
}

/// Parses a filter of the rows of a table.
///
/// # Errors
/// The message, and the position below it.
pub fn row_filter<R: Row>(text: &str) -> Result<RowFilter, FilterError> {
    filter_of(R::TABLE, text)
}

/// Parses a filter of connections with their owners.
///
/// # Errors
/// The message, and the position below it.
pub fn connection_filter(text: &str) -> Result<RowFilter, FilterError> {
    filter_of(&OWNED_CONNECTIONS, text)
}

fn filter_of(table: &'static Table, text: &str) -> Result<RowFilter, FilterError> {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let filter = Filter::parse_for(text, &columns, table.name, Names::Later)?;
    RowFilter::new(&filter, table)
}
