//! The segments that a segment of a rollup is made of, as its footer lists them.
//!
//! A line for each: the partition, the name, the size, and the checksum of the footer, which covers those of all
//! columns.

use crate::Segment;
use rocescope_model::footer;
use std::fmt::Write;
use std::path::Path;

/// A segment of which a rollup has the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Input {
    pub(super) partition: String,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The checksum; a hyphen without one.
    pub(super) sum: String,
}

impl Input {
    /// A segment that can be read.
    pub(super) fn of(segment: &Segment) -> Self {
        let sums = segment.footer(footer::CHECKSUMS).unwrap_or_default();
        let own = sums.split_whitespace().nth(1).or(sums.split_whitespace().next());
        Self {
            sum: own.unwrap_or("-").into(),
            ..Self::unread(&segment.partition, &segment.path, segment.bytes)
        }
    }

    /// One whose footer was not read.
    pub(super) fn unread(partition: &str, path: &Path, bytes: u64) -> Self {
        let name = path.file_name().unwrap_or_default();
        Self {
            partition: partition.into(),
            name: name.to_string_lossy().into_owned(),
            bytes,
            sum: "-".into(),
        }
    }

    /// Whether both have the same name and size.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        self.name == other.name && self.bytes == other.bytes
    }
}

/// Writes the value of the footer's key.
pub(super) fn text(inputs: &[Input]) -> String {
    let mut text = String::new();
    for Input {
        partition,
        name,
        bytes,
        sum,
    } in inputs
    {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{partition} {bytes} {sum} {name}");
    }
    text
}

/// Reads it back. A line that another version wrote otherwise is left out: its unit is made again.
pub(super) fn parse(text: &str) -> Vec<Input> {
    let line = |line: &str| {
        let mut words = line.splitn(4, ' ');
        Some(Input {
            partition: words.next()?.into(),
            bytes: words.next()?.parse().ok()?,
            sum: words.next()?.into(),
            name: words.next()?.into(),
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Input, parse, text};

    #[test]
    fn inputs_come_back_from_their_text() {
        let input = |name: &str, bytes| Input {
            partition: "date=2026-11-21/hour=02".into(),
            name: name.into(),
            bytes,
            sum: "0badcafe".into(),
        };
        let all = vec![input("a b-20261121T020000Z-0000.parquet", 7), input("c.parquet", 0)];
        assert_eq!(parse(&text(&all)), all);
        assert_eq!(parse("half a line"), []);
    }
}
