//! The color of trouble, on terminals only.

/// Whether a text has colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// For a terminal.
    On,
    /// For a file or a pipe.
    Off,
}

const TROUBLE: &str = "\x1b[1;31m";
const END: &str = "\x1b[0m";

/// The sequences that texts with colors have.
pub const SEQUENCES: [&str; 2] = [TROUBLE, END];

impl Color {
    /// The text in bold red if something is wrong.
    pub(super) fn trouble(self, is_wrong: bool, text: &str) -> String {
        match self {
            Self::On if is_wrong => format!("{TROUBLE}{text}{END}"),
            _ => text.to_owned(),
        }
    }
}
