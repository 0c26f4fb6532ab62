//! Results on standard output.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};

/// Writes to standard output; a closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}
