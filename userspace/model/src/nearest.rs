//! What was probably meant.

use alloc::vec::Vec;

/// The candidate that takes the fewest changes of a letter to become `word`, if they are few: at
/// most one in three letters.
///
/// The distance is Levenshtein's: letters put in, left out or replaced.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().div_ceil(3);
    let measured = candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate));
    measured
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Row by row of the usual table, of which one is kept.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(0);
            let least = (diagonal + usize::from(x != *y))
                .min(left + 1)
                .min(above + 1);
            diagonal = above;
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            left = least;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_are_levenshteins() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("pakets", "packets", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_what_is_near_is_offered() {
        assert_eq!(nearest("pakets", ["packets", "payload"]), Some("packets"));
        assert_eq!(nearest("weather", ["packets", "payload"]), None);
    }
}
