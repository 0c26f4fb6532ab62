//! Selects the rows that are shown: by the filter language of `rocescope-model`, or by a word.

use rocescope_model::filter::{Filter, FilterError, Names, RowFilter};
use rocescope_model::hosts::Hosts;
use rocescope_model::{Cells, Table, human};
use std::sync::Arc;

/// A filter as typed, parsed for one table.
#[derive(Debug)]
pub enum Matcher {
    /// The filter language.
    Rows(RowFilter),
    /// A word to find, ignoring case, in one of these columns: those shown by default. An address is found by its name
    /// too.
    Word(String, Vec<usize>, Arc<Hosts>),
}

impl Matcher {
    /// Parses what was typed. A single word that is not a filter is searched for: `10.0.0.7`, `write`.
    ///
    /// # Errors
    /// [`FilterError`]: what is wrong, and where.
    pub fn read(text: &str, table: &'static Table, hosts: &Arc<Hosts>) -> Result<Self, FilterError> {
        let text = text.trim();
        match Filter::parse_with(text, Names::Of(hosts)).and_then(|filter| RowFilter::new(&filter, table)) {
            Ok(filter) => Ok(Self::Rows(filter)),
            Err(_) if is_word(text) => {
                let columns = table.columns.iter().enumerate();
                let shown = columns.filter(|(_, column)| column.shown);
                let shown = shown.map(|(at, _)| at).collect();
                Ok(Self::Word(text.to_lowercase(), shown, Arc::clone(hosts)))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a row is shown.
    #[must_use]
    pub fn matches(&self, cells: &dyn Cells, row: usize) -> bool {
        match self {
            Self::Rows(filter) => filter.matches(cells, row),
            Self::Word(word, columns, hosts) => columns.iter().any(|column| {
                let text = human::plain(&cells.value(row, *column));
                hosts.text(&text).to_lowercase().contains(word)
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
    use rocescope_model::hosts::Hosts;
    use rocescope_model::{FlowRow, OpcodeRow, Row};
    use std::sync::Arc;

    #[test]
    fn names_of_the_hosts_file_find_their_addresses() {
        let hosts = Arc::new(Hosts::parse("10.0.0.3 gpu03\n10.0.1.3 gpu03\n10.0.0.4 gpu04\n").unwrap());
        let flow = |src: &str| FlowRow {
            src: src.parse().unwrap(),
            dst: "10.0.0.9".parse().unwrap(),
            ..FlowRow::default()
        };
        let rows = vec![flow("10.0.0.3"), flow("10.0.1.3"), flow("10.0.0.4")];
        for (text, expected) in [
            ("gpu03", &[0, 1][..]),
            ("host GPU03", &[0, 1]),
            ("src host gpu04 or dst host gpu04", &[2]),
            ("host != gpu03", &[2]),
        ] {
            let matcher = Matcher::read(text, FlowRow::TABLE, &hosts).unwrap();
            let found: Vec<usize> = (0..rows.len()).filter(|row| matcher.matches(&rows, *row)).collect();
            assert_eq!(found, expected, "{text}");
        }
        let error = Matcher::read("host gpu3", FlowRow::TABLE, &hosts).unwrap_err();
        assert!(error.message.contains("did you mean `gpu03`?"), "{error}");
    }

    #[test]
    fn filters_are_parsed_and_single_words_searched_for() {
        let row = |opcode: &'static str, packets| OpcodeRow {
            opcode: opcode.into(),
            packets,
            ..OpcodeRow::default()
        };
        let rows = vec![row("RC_SEND_ONLY", 5), row("RC_RDMA_WRITE_ONLY", 6), row("CNP", 7)];
        let hosts = Arc::<Hosts>::default();
        let matching = |text: &str| {
            let matcher = Matcher::read(text, OpcodeRow::TABLE, &hosts).unwrap();
            let all = 0..rows.len();
            all.filter(|row| matcher.matches(&rows, *row)).collect::<Vec<_>>()
        };
        assert_eq!(matching("only"), [0, 1]);
        assert_eq!(matching("opcode *WRITE* or packets > 6"), [1, 2]);
        assert_eq!(matching(" cnp "), [2]);
        let error = Matcher::read("packets > 5 or frams > 6", OpcodeRow::TABLE, &hosts);
        let place = error.unwrap_err().place;
        assert_eq!((place.from, place.to), (15, 20));
        assert!(Matcher::read("packets>", OpcodeRow::TABLE, &hosts).is_err());
    }
}
