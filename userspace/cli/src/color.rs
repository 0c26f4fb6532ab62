//! Whether standard output shows colors.

use rocescope_engine::document::color::Color;
use std::io::IsTerminal;

/// `On` for a terminal; `Off` for a file or a pipe, or if the environment variable `NO_COLOR` is set.
pub(crate) fn of_stdout() -> Color {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stdout().is_terminal() {
        Color::On
    } else {
        Color::Off
    }
}
