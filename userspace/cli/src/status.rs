//! Status lines on standard error while a command runs.

use rocescope_analysis::live;
use rocescope_engine::Notices;
use rocescope_model::human::visible_lines;
use std::fmt::Arguments;
use std::io::Write;
use std::sync::Arc;

/// Prints the status lines of all crates.
pub fn install() {
    rocescope_runtime::status::install(line);
}

/// Writes a line to standard error; ignores a closed standard error.
fn line(line: Arguments<'_>) {
    // Names in it are text of others.
    let line = visible_lines(&line.to_string());
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints the engine's notices as lines.
#[must_use]
pub fn notices() -> Notices {
    Notices::to(rocescope_runtime::status::notice)
}

/// Prints the lines of analyses.
#[must_use]
pub fn status_lines() -> live::Notices {
    Arc::new(|line| rocescope_runtime::status!("{line}"))
}
