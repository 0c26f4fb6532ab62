//! Selects the rows that are shown: by the filter language of `rocescope-model`, or by a word.

use rocescope_model::filter::{FilterError, RowFilter};
use rocescope_model::{Cells, Table, human};

/// A filter as typed, parsed for one table.
#[derive(Debug)]
pub enum Matcher {
    /// The filter language.
    Rows(RowFilter),
    /// A word to find, ignoring case, in one of these columns: those shown by default.
    Word(String, Vec<usize>),
}

impl Matcher {
    /// Parses what was typed. A single word that is not a filter is searched for: `10.0.0.7`, `write`.
    ///
    /// # Errors
    /// [`FilterError`]: what is wrong, and where.
    pub fn read(text: &str, table: &'static Table) -> Result<Self, FilterError> {
        let text = text.trim();
        match text.parse().and_then(|filter| RowFilter::new(&filter, table)) {
            Ok(filter) => Ok(Self::Rows(filter)),
            Err(_) if is_word(text) => {
                let columns = table.columns.iter().enumerate();
                let shown = columns.filter(|(_, column)| column.shown);
                let shown = shown.map(|(at, _)| at).collect();
                Ok(Self::Word(text.to_lowercase(), shown))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a row is shown.
    #[must_use]
    pub fn matches(&self, cells: &dyn Cells, row: usize) -> bool {
        match self {
            Self::Rows(filter) => filter.matches(cells, row),
            Self::Word(word, columns) => columns.iter().any(|column| {
                let text = human::plain(&cells.value(row, *column));
                text.to_lowercase().contains(word)
            }),
        }
    }
}

/// Without blanks and operators.
fn is_word(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || "=<>!()&|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::Matcher;
    use rocescope_model::{OpcodeRow, Row};

    #[test]
    fn filters_are_parsed_and_single_words_searched_for() {
        let row = |opcode: &'static str, packets| OpcodeRow {
            opcode: opcode.into(),
            packets,
            ..OpcodeRow::default()
        };
        let rows = vec![row("RC_SEND_ONLY", 5), row("RC_RDMA_WRITE_ONLY", 6), row("CNP", 7)];
        let matching = |text: &str| {
            let matcher = Matcher::read(text, OpcodeRow::TABLE).unwrap();
            let all = 0..rows.len();
            all.filter(|row| matcher.matches(&rows, *row)).collect::<Vec<_>>()
        };
        assert_eq!(matching("only"), [0, 1]);
        assert_eq!(matching("opcode *WRITE* or packets > 6"), [1, 2]);
        assert_eq!(matching(" cnp "), [2]);
        let error = Matcher::read("packets > 5 or frams > 6", OpcodeRow::TABLE);
        let place = error.unwrap_err().place;
        assert_eq!((place.from, place.to), (15, 20));
        assert!(Matcher::read("packets>", OpcodeRow::TABLE).is_err());
    }
}
