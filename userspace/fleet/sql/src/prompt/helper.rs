//! Completion, and when a statement ends.

use datafusion::prelude::SessionContext;
use rocescope_model::TABLES;
use rustyline::completion::Completer;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};
use rustyline::{Highlighter, Hinter};
use std::collections::BTreeSet;

/// Words of SQL that questions need.
const KEYWORDS: &[&str] = &[
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "COUNT",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "ELSE",
    "END",
    "EXPLAIN",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "INTERVAL",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "SELECT",
    "SHOW",
    "SUM",
    "TABLES",
    "THEN",
    "UNION",
    "USING",
    "WHEN",
    "WHERE",
    "WITH",
];

/// What can be completed.
pub(super) struct Words {
    /// Names of functions.
    functions: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(context: &SessionContext) -> Self {
        let state = context.state();
        let names = [
            state.scalar_functions().keys().cloned().collect::<Vec<_>>(),
            state.aggregate_functions().keys().cloned().collect(),
            state.window_functions().keys().cloned().collect(),
        ];
        Self {
            functions: names.into_iter().flatten().collect(),
        }
    }

    /// Words that begin as `begun`: tables and the columns of tables that the text names first, then functions and words of
    /// SQL.
    fn matching(&self, text: &str, begun: &str) -> Vec<String> {
        let lower = begun.to_ascii_lowercase();
        let named = |table: &str| text.split(|letter: char| !is_word(letter)).any(|word| word == table);
        let tables = TABLES.iter().map(|table| table.name);
        let columns = TABLES
            .iter()
            .filter(|table| named(table.name))
            .flat_map(|table| table.columns);
        let columns = columns.map(|column| column.name);
        let mut found: Vec<String> = tables.chain(columns).map(str::to_owned).collect();
        found.extend(self.functions.iter().cloned());
        found.extend(KEYWORDS.iter().map(|word| match begun.starts_with(char::is_lowercase) {
            true => word.to_ascii_lowercase(),
            false => (*word).to_owned(),
        }));
        found.retain(|word| word.to_ascii_lowercase().starts_with(&lower));
        let mut seen = BTreeSet::new();
        found.retain(|word| seen.insert(word.clone()));
        found
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[derive(rustyline::Helper, Hinter, Highlighter)]
pub(super) struct Editing {
    words: Words,
}

impl Editing {
    pub(super) const fn new(words: Words) -> Self {
        Self { words }
    }
}

impl Completer for Editing {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or_default();
        let start = before
            .rfind(|letter| !is_word(letter))
            .map_or(0, |last| last + before[last..].chars().next().map_or(1, char::len_utf8));
        let begun = &before[start..];
        if begun.is_empty() {
            return Ok((start, Vec::new()));
        }
        Ok((start, self.words.matching(line, begun)))
    }
}

impl Validator for Editing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let text = context.input().trim();
        let is_whole = text.is_empty() || text.starts_with('\\') || text.ends_with(';');
        Ok(match is_whole {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}
