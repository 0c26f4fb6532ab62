//! The color of trouble, on terminals only.

/// Whether a text has colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// For a terminal.
    On,
    /// For a file or a pipe.
    Off,
}

impl Color {
    /// The text in bold red if something is wrong.
    pub(super) fn trouble(self, is_wrong: bool, text: &str) -> String {
        match self {
            Self::On if is_wrong => format!("\x1b[1;31m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}
