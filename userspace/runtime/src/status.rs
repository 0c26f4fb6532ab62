//! Status lines while a command runs. The program decides where they go: `rocescope` writes them to standard error.

use std::fmt::{Arguments, Display};
use std::sync::OnceLock;

/// Receives status lines from any thread.
pub type Sink = fn(Arguments<'_>);

static SINK: OnceLock<Sink> = OnceLock::new();

/// Reports a status line.
#[macro_export]
macro_rules! status {
    ($($line:tt)+) => {
        $crate::status::line(format_args!($($line)+))
    };
}

/// Passes all status lines to `sink`; the first call decides. Without one they are discarded.
pub fn install(sink: Sink) {
    let _ = SINK.set(sink);
}

/// Reports a status line.
pub fn line(line: Arguments<'_>) {
    if let Some(sink) = SINK.get() {
        sink(line);
    }
}

/// Reports a notice as a line.
pub fn notice(notice: impl Display) {
    line(format_args!("{notice}"));
}
