//! A filter held against the rows of one table.

use super::Filter;
use super::error::FilterError;
use super::expression::Test;
use crate::nearest::nearest;
use crate::{Cells, Table};
use alloc::format;
use alloc::vec::Vec;

/// A filter for the rows of one table.
#[derive(Debug, Clone)]
pub struct RowFilter {
    filter: Filter,
    table: &'static Table,
}

impl RowFilter {
    /// Every term of `filter` has a column in `table`.
    ///
    /// # Errors
    /// [`FilterError`] points at the first term that has none.
    pub fn new(filter: &Filter, table: &'static Table) -> Result<Self, FilterError> {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        filter.expect_columns(&columns, table.name)?;
        Ok(Self {
            filter: filter.clone(),
            table,
        })
    }

    /// The table whose rows it is for.
    #[must_use]
    pub const fn table(&self) -> &'static Table {
        self.table
    }

    /// Whether a row is wanted. Of a term whose columns the table has in part, those count.
    #[must_use]
    pub fn matches(&self, cells: &(impl Cells + ?Sized), row: usize) -> bool {
        // A column that is not there holds nothing; each term has one that is.
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
    /// Every term compares a column of this list.
    ///
    /// # Errors
    /// [`FilterError`] points at the first that does not; `of` names what has these columns.
    pub fn expect_columns(&self, columns: &[&str], of: &str) -> Result<(), FilterError> {
        self.expression().terms(&mut |tests, place| {
            if tests.iter().any(|test| columns.contains(&test.column.name)) {
                return Ok(());
            }
            let name = tests.first().map_or("", |test| test.column.name);
            let hint = match nearest(name, columns.iter().copied()) {
                Some(near) => format!("; they have `{near}`"),
                None => alloc::string::String::new(),
            };
            Err(FilterError::new(
                format!("{of} have no `{name}`{hint}"),
                self.text(),
                place,
            ))
        })
    }
}
