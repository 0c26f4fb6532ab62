//! Why an input is refused, and at which line.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// An input that cannot be read: the line, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Line of the input, from 1.
    pub line: u32,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Refusal {
    /// Refuses this line.
    #[must_use]
    pub fn at(line: u32, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }

    /// Refuses the line where a parser stopped: at the end of a text that is the line after the last one, which no editor shows.
    pub(crate) fn within(text: &str, line: u32, message: impl Into<String>) -> Self {
        let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Self::at(line.min(last).max(1), message)
    }

    /// The refusal as `file:line: message`.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        format!("{file}:{}: {}", self.line, self.message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl core::error::Error for Refusal {}

/// The number of a line from its index.
pub(crate) fn line_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}
