//! A table of a document.

use rocescope_model::{Cells, Type, Value, human};

/// A table.
#[derive(Debug, Default)]
pub struct Grid {
    /// Heading above it.
    pub title: String,
    /// Its columns.
    pub heads: Vec<Head>,
    /// Its rows, with one cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Whether a chart of the section shows the same: a page folds the table.
    pub is_drawn: bool,
}

/// A column of a [`Grid`].
#[derive(Debug, Clone)]
pub struct Head {
    /// Its heading.
    pub title: String,
    /// Its meaning in one sentence; may be empty.
    pub help: String,
    /// Whether its cells are numbers.
    pub right: bool,
    /// Whether its cells are sentences: a page shows them below the row, in its whole width.
    pub is_prose: bool,
}

/// A cell of a [`Grid`].
#[derive(Debug, Clone)]
pub struct Cell {
    /// The text shown.
    pub text: String,
    /// The number, to sort by.
    pub number: Option<f64>,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: None,
        }
    }

    pub(super) fn number(number: f64, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            number: Some(number),
        }
    }
}

impl Grid {
    /// Creates a table of model rows with some of their columns, the most important first: narrow terminals drop the
    /// last.
    pub(super) fn of(title: impl Into<String>, cells: &dyn Cells, columns: &[&str]) -> Self {
        let table = cells.table();
        let places = columns.iter().filter_map(|name| table.position(name));
        let places: Vec<usize> = places.collect();
        let columns = places.iter().filter_map(|at| table.columns.get(*at));
        let heads = columns.clone().map(|column| Head {
            title: column.title.into(),
            help: column.help.into(),
            right: column.kind.is_number(),
            is_prose: false,
        });
        let row = |row: usize| {
            let cells = places.iter().zip(columns.clone()).map(|(at, column)| {
                let value = cells.value(row, *at);
                let text = match (&value, column.kind) {
                    (Value::Bool(false), Type::Bool) => String::new(),
                    _ => human::readable(&value, column.unit),
                };
                let number = match value {
                    Value::I64(number) => Some(number as f64),
                    Value::F64(number) => Some(number),
                    Value::Time(time) => Some(time.0 as f64),
                    _ => None,
                };
                Cell { text, number }
            });
            cells.collect()
        };
        Self {
            title: title.into(),
            heads: heads.collect(),
            rows: (0..cells.rows()).map(row).collect(),
            is_drawn: false,
        }
    }
}

/// Returns the columns with a value other than null and 0 in any row.
pub(super) fn filled<'a>(cells: &dyn Cells, columns: &[&'a str]) -> Vec<&'a str> {
    let has = |name: &&&str| {
        let column = cells.table().position(name);
        column.is_some_and(|column| {
            (0..cells.rows()).any(|row| !matches!(cells.value(row, column), Value::Null | Value::I64(0)))
        })
    };
    columns.iter().filter(has).copied().collect()
}
