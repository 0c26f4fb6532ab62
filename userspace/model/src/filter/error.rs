//! Errors that point at their place.

use alloc::string::String;
use core::fmt;

/// Bytes of the filter's text, from the first to behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextSpan {
    /// The first byte.
    pub from: usize,
    /// The byte behind the last.
    pub to: usize,
}

/// What is wrong with a filter, and where.
///
/// Printed, it is three lines: the sentence, the filter, and marks below the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// One sentence.
    pub message: String,
    /// The filter.
    pub text: String,
    /// Where it is wrong.
    pub place: TextSpan,
}

impl FilterError {
    pub(crate) fn new(message: impl Into<String>, text: &str, place: TextSpan) -> Self {
        Self {
            message: message.into(),
            text: text.into(),
            place,
        }
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            text,
            place,
        } = self;
        let before = text.get(..place.from).unwrap_or(text).chars().count();
        let marked = text.get(place.from..place.to).unwrap_or("").chars().count();
        writeln!(f, "{message}")?;
        writeln!(f, "  {}", text.replace(char::is_control, " "))?;
        write!(f, "  {:before$}{:^<width$}", "", "", width = marked.max(1))
    }
}

impl core::error::Error for FilterError {}
