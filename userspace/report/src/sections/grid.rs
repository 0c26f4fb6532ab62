//! A table of a document.

use rocescope_model::{Cells, Rule, Table, Type, Value, human};

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
    /// The rows of the model that it shows some columns of, if it does.
    pub source: Option<Source>,
}

/// Rows of the model below a [`Grid`].
#[derive(Debug)]
pub struct Source {
    /// Their table.
    pub table: &'static Table,
    /// For each row, its values that are not null: the place of the column, and the text.
    pub rows: Vec<Vec<(usize, String)>>,
}

impl Source {
    fn of(cells: &dyn Cells) -> Self {
        let columns = cells.table().columns;
        let fields = |row: usize| {
            let values = columns
                .iter()
                .enumerate()
                .map(|(at, column)| (at, column, cells.value(row, at)));
            let values = values.filter(|(_, column, value)| column.kind != Type::Bytes && *value != Value::Null);
            let texts = values.map(|(at, column, value)| (at, human::readable(&value, column.unit)));
            texts.collect()
        };
        Self {
            table: cells.table(),
            rows: (0..cells.rows()).map(fields).collect(),
        }
    }

    /// The values that tell a row from others, whenever it is looked at.
    fn identity(&self, row: usize) -> impl Iterator<Item = &str> {
        let is_of_identity = |at: usize| {
            let column = self.table.columns.get(at);
            column.is_some_and(|column| column.aggregate.time == Rule::Same)
        };
        let values = self.rows.get(row).into_iter().flatten();
        let values = values.filter(move |(at, _)| is_of_identity(*at));
        values.map(|(_, text)| text.as_str())
    }
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
    /// A short name of a row, the same when the row has other values later.
    #[must_use]
    pub fn key(&self, row: usize) -> String {
        // FNV-1a, with a byte between texts that no text has.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let of_text = |hash: u64, text: &str| add(text.bytes().fold(hash, add), 0xff);
        let begin = of_text(0xcbf2_9ce4_8422_2325, &self.title);
        let hash = match &self.source {
            Some(source) => source.identity(row).fold(begin, of_text),
            None => {
                let cells = self.rows.get(row).into_iter().flatten();
                let texts = cells.filter(|cell| cell.number.is_none());
                texts.fold(begin, |hash, cell| of_text(hash, &cell.text))
            }
        };
        format!("{hash:016x}")
    }

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
            source: Some(Source::of(cells)),
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
