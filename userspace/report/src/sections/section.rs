//! A section and its findings.

use super::grid::Grid;
use crate::chart::Chart;
use serde::Serialize;

/// One section.
#[derive(Debug, Default)]
pub struct Section {
    /// Short name, for links.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Conclusions from the figures.
    pub findings: Vec<Finding>,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// Tables.
    pub grids: Vec<Grid>,
    /// Charts, for documents with graphics.
    pub charts: Vec<Chart>,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No problem.
    Good,
    /// Worth knowing.
    Note,
    /// A problem.
    Bad,
}

impl Level {
    /// Returns the name of the level.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// A conclusion in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its severity.
    pub level: Level,
    /// The sentence.
    pub text: String,
    /// The filter that selects the rows behind it, if one does.
    #[serde(skip)]
    pub filter: Option<String>,
}

impl Finding {
    pub(crate) fn good(text: impl Into<String>) -> Self {
        Self::new(Level::Good, text)
    }

    pub(crate) fn note(text: impl Into<String>) -> Self {
        Self::new(Level::Note, text)
    }

    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::new(Level::Bad, text)
    }

    fn new(level: Level, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            level,
            text,
            filter: None,
        }
    }
}
