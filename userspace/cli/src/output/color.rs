//! The color of trouble, on terminals only.

use std::io::IsTerminal;

/// Whether standard output shows colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// A terminal.
    On,
    /// A file or a pipe, or the environment variable `NO_COLOR` is set.
    Off,
}

impl Color {
    /// Of standard output.
    #[must_use]
    pub fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted && std::io::stdout().is_terminal() {
            Self::On
        } else {
            Self::Off
        }
    }

    /// The text in bold red if something is wrong.
    pub(super) fn trouble(self, is_wrong: bool, text: &str) -> String {
        match self {
            Self::On if is_wrong => format!("\x1b[1;31m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}
