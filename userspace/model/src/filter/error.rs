//! Errors with their position in the filter.

use alloc::string::String;
use core::fmt;

/// A range of bytes in the filter's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextSpan {
    /// The first byte.
    pub from: usize,
    /// One past the last byte.
    pub to: usize,
}

/// An error in a filter, and its position.
///
/// Prints as three lines: the message, the filter, and markers below the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// The message.
    pub message: String,
    /// Text of the filter.
    pub text: String,
    /// Position of the error.
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
        let Self { message, text, place } = self;
        let before = text.get(..place.from).unwrap_or(text).chars().count();
        let marked = text.get(place.from..place.to).unwrap_or("").chars().count();
        writeln!(f, "{message}")?;
        writeln!(f, "  {}", text.replace(char::is_control, " "))?;
        write!(f, "  {:before$}{:^<width$}", "", "", width = marked.max(1))
    }
}

impl core::error::Error for FilterError {}
