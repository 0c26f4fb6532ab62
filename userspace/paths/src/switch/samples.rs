//! What happened to the values that a source read.

use serde::Serialize;
use std::collections::BTreeMap;

/// What happened to the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Samples {
    /// Samples of each metric or path, as the mapping names it.
    pub used: BTreeMap<String, u64>,
    /// Samples that are in no row, by reason.
    pub unused: BTreeMap<&'static str, u64>,
}

/// The number at the end of a name: 3 of `UC3` and of `Ethernet0:3`.
pub(crate) fn trailing_number(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.get(digits..)?.parse().ok()
}
