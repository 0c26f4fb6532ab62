//! Suggestions for misspelt names.

use alloc::vec::Vec;

/// Returns the candidate with the smallest edit distance to `word`, at most one edit for every three letters.
///
/// The distance is optimal string alignment: insertions, deletions, substitutions, and swaps of two neighbours. The
/// first of several equally near candidates wins.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let max = word.chars().count().div_ceil(3);
    let measured = candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate));
    measured
        .filter(|(distance, _)| *distance <= max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Dynamic programming row by row; only three rows are kept.
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
        let mut row = Vec::from([i + 1]);
        for (j, y) in b.iter().enumerate() {
            let mut fewest = (cell(&above, j) + usize::from(x != y))
                .min(cell(&above, j + 1) + 1)
                .min(cell(&row, j) + 1);
            let pair = |of: &[char], at: usize| at.checked_sub(1).and_then(|at| of.get(at).copied());
            if pair(&a, i) == Some(*y) && pair(&b, j) == Some(*x) {
                fewest = fewest.min(cell(&before, j.saturating_sub(1)) + 1);
            }
            row.push(fewest);
        }
        before = core::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn distances_count_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("pakets", "packets", 1),
            ("hots", "host", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn only_near_candidates_are_suggested() {
        assert_eq!(nearest("pakets", ["packets", "payload"]), Some("packets"));
        assert_eq!(nearest("weather", ["packets", "payload"]), None);
    }
}
