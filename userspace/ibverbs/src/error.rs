//! Errors of calls.

use std::io;

/// A call that failed.
#[derive(Debug)]
pub struct Error {
    /// What it was for.
    pub what: &'static str,
    /// The error of the system.
    pub source: io::Error,
}

impl Error {
    /// The error of the last call of this thread, which returned null.
    #[must_use]
    pub fn last(what: &'static str) -> Self {
        Self {
            what,
            source: io::Error::last_os_error(),
        }
    }
}

/// Checks the result of a call that returns 0 or an `errno`.
///
/// # Errors
/// The `errno`.
pub fn check(what: &'static str, answer: libc::c_int) -> Result<(), Error> {
    match answer {
        0 => Ok(()),
        errno => Err(Error {
            what,
            source: io::Error::from_raw_os_error(errno),
        }),
    }
}
