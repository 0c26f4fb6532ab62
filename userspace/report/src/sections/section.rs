//! A section and its sentences.

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
    /// What the figures say.
    pub findings: Vec<Finding>,
    /// Names and figures.
    pub facts: Vec<(String, String)>,
    /// Tables.
    pub grids: Vec<Grid>,
    /// Charts, for documents that can hold them.
    pub charts: Vec<Chart>,
}

/// Whether a sentence is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// All is well.
    Good,
    /// Worth knowing.
    Note,
    /// Somebody should look.
    Bad,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// A sentence of judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How it is meant.
    pub level: Level,
    /// The sentence.
    pub text: String,
}

impl Finding {
    pub(super) fn good(text: impl Into<String>) -> Self {
        Self::new(Level::Good, text)
    }

    pub(super) fn note(text: impl Into<String>) -> Self {
        Self::new(Level::Note, text)
    }

    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self::new(Level::Bad, text)
    }

    fn new(level: Level, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { level, text }
    }
}
