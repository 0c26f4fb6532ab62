//! Status lines on standard error while a command runs.

use rocescope_engine::Notices;
use rocescope_model::human::visible_lines;
use std::fmt::Arguments;
use std::io::Write;

/// Writes a line to standard error.
#[macro_export]
macro_rules! status {
    ($($line:tt)+) => {
        $crate::status::line(format_args!($($line)+))
    };
}

pub use status;

/// Writes a line to standard error; ignores a closed standard error.
pub fn line(line: Arguments<'_>) {
    // Names in it are text of others.
    let line = visible_lines(&line.to_string());
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the engine's notices as lines.
#[must_use]
pub fn notices() -> Notices {
    Notices::to(|notice| status!("{notice}"))
}
