//! What a user most likely meant by a name that no column has.

use crate::nearest::nearest;
use crate::{DERIVED_TABLES, TABLES};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Columns to suggest, at most.
const SUGGESTED: usize = 3;

/// Shorter words are part of too many names.
const SHORTEST: usize = 3;

/// Returns a question with the columns of `known`, or the keyword, that `word` is most likely meant to be.
///
/// A word of a heading comes first, as users type what the screen shows: `lost` is closer to `lost_packets` than to the
/// keyword `host`, which is one letter away.
pub(super) fn suggestion(word: &str, known: &[&str], keywords: impl Iterator<Item = &'static str>) -> Option<String> {
    let mut named: Vec<&str> = known.iter().copied().filter(|name| shows(name, word)).collect();
    // The shortest name adds the least to the word.
    named.sort_by_key(|name| name.len());
    named.dedup();
    named.truncate(SUGGESTED);
    if named.is_empty() {
        named.extend(nearest(
            word,
            keywords.map(|keyword| -> &str { keyword }).chain(known.iter().copied()),
        ));
    }
    let (last, others) = named.split_last()?;
    Some(match others {
        [] => format!("did you mean `{last}`?"),
        _ => format!("did you mean `{}` or `{last}`?", others.join("`, `")),
    })
}

/// Whether `word` is a whole word of the column's name, or begins a word of its heading.
fn shows(name: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    if word.len() < SHORTEST {
        return false;
    }
    let in_name = name.split('_').any(|part| part == word);
    let tables = TABLES.iter().chain(DERIVED_TABLES);
    let mut columns = tables
        .flat_map(|table| table.columns)
        .filter(|column| column.name == name);
    in_name || columns.any(|column| column.title.to_lowercase().split(' ').any(|part| part == word))
}
