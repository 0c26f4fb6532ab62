//! The times of several capture files: gaps and overlaps.

use std::path::PathBuf;

/// Shorter gaps are silence between two frames of a rotated set.
const MIN_GAP_NS: u64 = 1_000_000_000;
/// Shorter overlaps are frames that a rotated set wrote slightly out of order.
const MIN_OVERLAP_NS: u64 = 1_000_000;

/// A capture file, and the times of its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpan {
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// Number of frames read.
    pub frames: u64,
    /// Time of the oldest frame, in nanoseconds since 1970; of no meaning without frames.
    pub first_ns: u64,
    /// Time of the newest frame.
    pub last_ns: u64,
    /// Why it was not read to its end.
    pub error: Option<String>,
}

/// A time without frames between two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap<'a> {
    /// The file before it.
    pub before: &'a FileSpan,
    /// The file after it.
    pub after: &'a FileSpan,
    /// Its length in nanoseconds.
    pub ns: u64,
}

/// A time that two files cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap<'a> {
    /// The file that starts earlier.
    pub one: &'a FileSpan,
    /// The other.
    pub other: &'a FileSpan,
    /// Its length in nanoseconds.
    pub ns: u64,
}

/// The gaps between files of at least a second, in the order of time.
#[must_use]
pub fn gaps(files: &[FileSpan]) -> Vec<Gap<'_>> {
    let mut found = Vec::new();
    let mut latest: Option<&FileSpan> = None;
    for after in in_order(files) {
        if let Some(before) = latest {
            let ns = after.first_ns.saturating_sub(before.last_ns);
            if ns >= MIN_GAP_NS {
                found.push(Gap { before, after, ns });
            }
        }
        latest = latest.filter(|latest| latest.last_ns > after.last_ns).or(Some(after));
    }
    found
}

/// The overlaps of each file with the earlier one that ends last, of at least a millisecond, in the order of time.
#[must_use]
pub fn overlaps(files: &[FileSpan]) -> Vec<Overlap<'_>> {
    let mut found = Vec::new();
    let mut latest: Option<&FileSpan> = None;
    for other in in_order(files) {
        if let Some(one) = latest {
            let ns = one.last_ns.min(other.last_ns).saturating_sub(other.first_ns);
            if ns >= MIN_OVERLAP_NS {
                found.push(Overlap { one, other, ns });
            }
        }
        latest = latest.filter(|latest| latest.last_ns > other.last_ns).or(Some(other));
    }
    found
}

fn in_order(files: &[FileSpan]) -> Vec<&FileSpan> {
    let mut files: Vec<&FileSpan> = files.iter().filter(|file| file.frames > 0).collect();
    files.sort_by_key(|file| file.first_ns);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, first_s: u64, last_s: u64) -> FileSpan {
        FileSpan {
            path: name.into(),
            frames: 1,
            first_ns: first_s * 1_000_000_000,
            last_ns: last_s * 1_000_000_000,
            error: None,
        }
    }

    #[test]
    fn gaps_and_overlaps_are_relative_to_the_latest_end() {
        let empty = FileSpan {
            frames: 0,
            ..file("empty", 0, 0)
        };
        // In the order of the command line, not of time.
        let files = [
            file("d", 100, 110),
            file("a", 10, 50),
            file("b", 20, 30),
            file("c", 40, 60),
            file("e", 110, 120),
            empty,
        ];
        let names = |one: &FileSpan, other: &FileSpan| format!("{} {}", one.path.display(), other.path.display());
        let found: Vec<(String, u64)> = gaps(&files)
            .iter()
            .map(|gap| (names(gap.before, gap.after), gap.ns))
            .collect();
        assert_eq!(found, [("c d".to_owned(), 40_000_000_000)]);
        let found: Vec<(String, u64)> = overlaps(&files).iter().map(|o| (names(o.one, o.other), o.ns)).collect();
        assert_eq!(
            found,
            [("a b".to_owned(), 10_000_000_000), ("a c".to_owned(), 10_000_000_000)]
        );
    }
}
