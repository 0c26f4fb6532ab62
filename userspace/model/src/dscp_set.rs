//! The DSCPs that packets of one kind had, as a column: `26`, or `0,26` if there were several.

use crate::Text;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A set of differentiated services code points, 0 to 63.
///
/// ```
/// use rocescope_model::DscpSet;
///
/// let mut seen = DscpSet::default();
/// seen.insert(26);
/// seen.insert(0);
/// assert_eq!(seen.to_string(), "0,26");
/// assert_eq!(DscpSet::parse("0,26"), Some(seen));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DscpSet(u64);

impl DscpSet {
    /// Adds one; values above 63, which no packet has, are ignored.
    #[inline]
    pub const fn insert(&mut self, dscp: u8) {
        if dscp < 64 {
            self.0 |= 1 << dscp;
        }
    }

    /// Reads what [`Display`](fmt::Display) writes; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = Self::default();
        for number in text.split(',') {
            set.insert(number.parse().ok().filter(|dscp| *dscp < 64)?);
        }
        Some(set)
    }

    /// The column; null without packets.
    #[must_use]
    pub fn column(self) -> Option<Text> {
        (!self.is_empty()).then(|| self.to_string().into())
    }

    /// Without any.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of DSCPs.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Those in both.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// In ascending order.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |dscp| self.0 >> dscp & 1 != 0)
    }
}

impl fmt::Display for DscpSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|dscp| dscp.to_string()).collect();
        f.write_str(&numbers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::DscpSet;
    use alloc::string::ToString;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_survives_its_text(dscps in proptest::collection::vec(0u8..64, 1..9)) {
            let mut set = DscpSet::default();
            dscps.iter().for_each(|dscp| set.insert(*dscp));
            prop_assert_eq!(DscpSet::parse(&set.to_string()), Some(set));
            prop_assert!(dscps.iter().all(|dscp| set.iter().any(|other| other == *dscp)));
        }
    }

    #[test]
    fn other_texts_are_no_sets() {
        for text in ["", "64", "-1", "26,", "AF31"] {
            assert_eq!(DscpSet::parse(text), None, "{text}");
        }
    }
}
