//! What an input lacks or contradicts: one line for each kind, however often it happened.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Display;

/// Complaints of several kinds, in the order of their first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Complaints {
    kinds: Vec<Complaint>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Complaint {
    /// What they have in common.
    kind: String,
    /// The first of them.
    first: String,
    count: u64,
}

impl Complaints {
    /// Adds a complaint. Those of the same `kind` become one line, which has the first `detail`.
    pub fn add(&mut self, kind: &str, detail: impl Display) {
        match self.kinds.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.count += 1,
            None => self.kinds.push(Complaint {
                kind: kind.to_string(),
                first: detail.to_string(),
                count: 1,
            }),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Each kind, with the first of its complaints.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds.iter().map(|one| (one.kind.as_str(), one.first.as_str()))
    }

    /// One line for each kind.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |one: &Complaint| match one.count {
            1 => format!("{}: {}", one.first, one.kind),
            count => format!("{}: {} (and {} more)", one.first, one.kind, count - 1),
        };
        self.kinds.iter().map(line).collect()
    }

    /// Moves all complaints of `other` behind these.
    pub fn append(&mut self, other: Self) {
        for one in other.kinds {
            match self.kinds.iter_mut().find(|known| known.kind == one.kind) {
                Some(known) => known.count += one.count,
                None => self.kinds.push(one),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Complaints;

    #[test]
    fn a_kind_has_one_line() {
        let mut all = Complaints::default();
        all.add("too short; skipped", "fct.txt:3");
        all.add("no number; skipped", "fct.txt:4");
        all.add("too short; skipped", "fct.txt:9");
        assert_eq!(
            all.lines(),
            [
                "fct.txt:3: too short; skipped (and 1 more)",
                "fct.txt:4: no number; skipped"
            ]
        );
        let mut more = Complaints::default();
        more.add("too short; skipped", "other.txt:1");
        all.append(more);
        assert_eq!(all.lines()[0], "fct.txt:3: too short; skipped (and 2 more)");
    }
}
