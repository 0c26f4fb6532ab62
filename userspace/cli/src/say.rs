//! Status lines on standard error while a command runs.

use rocescope_engine::Notices;
use std::fmt::Arguments;
use std::io::Write;

/// Writes a line to standard error.
#[macro_export]
macro_rules! say {
    ($($line:tt)+) => {
        $crate::say::line(format_args!($($line)+))
    };
}

pub use say;

/// Writes a line to standard error; ignores a closed standard error.
pub fn line(line: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the engine's notices as lines.
#[must_use]
pub fn notices() -> Notices {
    Notices::to(|notice| say!("{notice}"))
}
