//! Results on standard output.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};

/// Writes to standard output; a closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    print_line(text).map(|_| ())
}

/// Writes to standard output; returns whether anyone still reads it.
pub(crate) fn print_line(text: &str) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.context("standard output").map(|()| true),
    }
}
