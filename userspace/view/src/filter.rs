//! Which rows are shown.
//!
//! What is typed behind `/` goes through a [`Filter`] that the caller chooses: [`words`] unless it has a
//! better one.

use rocescope_model::{Cells, Table, human};

/// Whether a row is shown.
pub type Matcher = Box<dyn Fn(&dyn Cells, usize) -> bool + Send>;

/// Reads what was typed, for one table; a sentence where it makes no sense.
pub type Filter = fn(&str, &'static Table) -> Result<Matcher, String>;

/// Rows in which every word occurs in some column that is shown by default, whatever the case; with a
/// `-` before a word, rows in which it does not.
///
/// # Errors
/// Never.
pub fn words(text: &str, table: &'static Table) -> Result<Matcher, String> {
    let columns = table.columns.iter().enumerate();
    let shown: Vec<usize> = columns.filter(|(_, c)| c.shown).map(|(i, _)| i).collect();
    let words: Vec<(bool, String)> = text
        .split_whitespace()
        .map(|word| match word.strip_prefix('-') {
            Some(rest) if !rest.is_empty() => (false, rest.to_lowercase()),
            _ => (true, word.to_lowercase()),
        })
        .collect();
    Ok(Box::new(move |cells, row| {
        let has = |word: &str| {
            let found = |column: &usize| {
                let text = human::plain(&cells.value(row, *column));
                text.to_lowercase().contains(word)
            };
            shown.iter().any(found)
        };
        words.iter().all(|(wanted, word)| has(word) == *wanted)
    }))
}

#[cfg(test)]
mod tests {
    use super::words;
    use rocescope_model::{OpcodeRow, Row};

    #[test]
    fn every_word_must_occur_and_none_behind_a_minus() {
        let row = |opcode: &'static str| OpcodeRow {
            opcode: opcode.into(),
            packets: 77,
            ..OpcodeRow::default()
        };
        let rows = vec![row("RC_SEND_ONLY"), row("RC_RDMA_WRITE_ONLY"), row("CNP")];
        let matching = |text: &str| {
            let matcher = words(text, OpcodeRow::TABLE).unwrap();
            let all = 0..rows.len();
            all.filter(|row| matcher(&rows, *row)).collect::<Vec<_>>()
        };
        assert_eq!(matching(""), [0, 1, 2]);
        assert_eq!(matching("rc_ only"), [0, 1]);
        assert_eq!(matching("only -write"), [0]);
        assert_eq!(matching("77 cnp"), [2]);
        assert_eq!(matching("ud"), [0usize; 0]);
    }
}
