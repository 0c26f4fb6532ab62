//! Errors with their position in the filter.

use alloc::string::String;
use core::fmt;

/// Characters of the filter to print on each side of the position, at most.
const AROUND: usize = 60;

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
/// Prints as three lines: the message, the filter, and markers below the position. A long filter is cut around it.
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
        let width = marked.clamp(1, AROUND);
        let first = before.saturating_sub(AROUND);
        let end = before + width + AROUND;
        let shown = text.chars().take(end).skip(first);
        let shown: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
        let lead = if first > 0 { "…" } else { "" };
        let trail = if text.chars().nth(end).is_some() { "…" } else { "" };
        let indent = before - first + lead.chars().count();
        writeln!(f, "{message}")?;
        writeln!(f, "  {lead}{shown}{trail}")?;
        write!(f, "  {:indent$}{:^<width$}", "", "")
    }
}

impl core::error::Error for FilterError {}
