//! Sets of ranks as text: `0-3,8`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The set as ranges, ascending.
#[must_use]
pub(crate) fn text(ranks: BTreeSet<u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(",")
}

/// A range as text, without its ranks.
#[must_use]
pub(crate) fn text_of(range: core::ops::Range<u32>) -> String {
    match range.end.saturating_sub(range.start) {
        0 => String::new(),
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    }
}

/// The ranks of a text; what is no range is left out, and a range has at most a million ranks.
pub(crate) fn read(text: &str) -> impl Iterator<Item = u32> {
    const MOST: u32 = 1 << 20;
    text.split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            Some(first..=last.min(first.saturating_add(MOST)))
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{read, text};
    use alloc::collections::BTreeSet;

    #[test]
    fn a_set_is_read_as_it_was_written() {
        for (ranks, written) in [(&[][..], ""), (&[7], "7"), (&[0, 1, 2, 3, 8, 10, 11], "0-3,8,10-11")] {
            let set: BTreeSet<u32> = ranks.iter().copied().collect();
            assert_eq!(text(set.clone()), written);
            assert_eq!(read(written).collect::<BTreeSet<u32>>(), set);
        }
    }
}
