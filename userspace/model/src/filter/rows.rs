//! A filter for the rows of one table.

use super::Filter;
use super::error::FilterError;
use super::expression::Test;
use super::parse::available;
use super::suggest::suggestion;
use crate::hosts::Hosts;
use crate::{Cells, DERIVED_TABLES, TABLES, Table};
use alloc::format;
use alloc::vec::Vec;

/// Tables to name that have a column, at most.
const ELSEWHERE: usize = 3;

/// A filter for the rows of one table.
#[derive(Debug, Clone)]
pub struct RowFilter {
    filter: Filter,
    table: &'static Table,
}

impl RowFilter {
    /// Creates a filter for the rows of `table`, which must have a column for every term.
    ///
    /// # Errors
    /// Returns a [`FilterError`] at the first term without a column.
    pub fn new(filter: &Filter, table: &'static Table) -> Result<Self, FilterError> {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        filter.expect_columns(&columns, table.name)?;
        Ok(Self {
            filter: filter.clone(),
            table,
        })
    }

    /// Replaces the names after `host` by their addresses.
    ///
    /// # Errors
    /// A name that `hosts` does not have.
    pub fn resolve(&self, hosts: &Hosts) -> Result<Self, FilterError> {
        Self::new(&self.filter.resolve(hosts)?, self.table)
    }

    /// Returns the table whose rows it filters.
    #[must_use]
    pub const fn table(&self) -> &'static Table {
        self.table
    }

    /// Whether a row matches. For a term with several columns, only those that the table has are tested.
    #[must_use]
    pub fn matches(&self, cells: &(impl Cells + ?Sized), row: usize) -> bool {
        // A missing column never matches; each term has at least one column in the table.
        let mut ask = |test: &Test| {
            let column = self.table.position(test.column.name);
            Some(column.is_some_and(|column| {
                let value = cells.value(row, column);
                test.literal.compare(&value, test.comparison)
            }))
        };
        self.filter.expression().holds(&mut ask) == Some(true)
    }
}

impl Filter {
    /// Checks that every term compares a column of this list.
    ///
    /// # Errors
    /// Returns a [`FilterError`] at the first term that does not; `of` names the object with these columns.
    pub fn expect_columns(&self, columns: &[&str], of: &str) -> Result<(), FilterError> {
        self.expression().terms(&mut |tests, place| {
            if tests.iter().any(|test| columns.contains(&test.column.name)) {
                return Ok(());
            }
            let name = tests.first().map_or("", |test| test.column.name);
            let hint = suggestion(name, columns, core::iter::empty());
            let hint = hint.unwrap_or_else(|| available(columns, of));
            let tables = TABLES.iter().chain(DERIVED_TABLES);
            let elsewhere = tables.filter(|table| table.position(name).is_some());
            let elsewhere: Vec<&str> = elsewhere.map(|table| table.name).take(ELSEWHERE).collect();
            Err(FilterError::new(
                format!(
                    "{of} have no column `{name}` (a column of {}); {hint}",
                    elsewhere.join(", ")
                ),
                self.text(),
                place,
            ))
        })
    }
}
