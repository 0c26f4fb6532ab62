//! A whole file as text.

use crate::{InputError, open};
use std::io::{self, Read};
use std::path::Path;

/// The longest text in bytes. A small compressed file can become more than the memory holds.
const MOST: u64 = 1 << 30;

/// Reads a file, uncompressed. Bytes that are not UTF-8 become replacement characters; a byte order mark is left out.
///
/// # Errors
/// The file cannot be read or decompressed, or its text is longer than 1 GiB.
pub fn text(path: &Path) -> io::Result<String> {
    text_of_at_most(path, MOST)
}

/// The same with another bound in bytes. A device or a pipe may never end.
///
/// # Errors
/// The file cannot be read or decompressed, or its text is longer.
pub fn text_of_at_most(path: &Path, most: u64) -> io::Result<String> {
    Ok(to_text(bytes_of_at_most(path, most)?))
}

/// Reads a file, uncompressed, that may be other than text.
///
/// # Errors
/// The file cannot be read or decompressed, or is longer than 1 GiB.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of_at_most(path, MOST)
}

fn bytes_of_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let input = match open(path) {
        Ok(input) => input,
        Err(InputError::Empty) => return Ok(Vec::new()),
        Err(InputError::Io(error)) => return Err(error),
    };
    let too_long = || io::Error::other(format!("longer than {} MiB", most >> 20));
    if input.length.is_some_and(|length| length > most) {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long());
    }
    Ok(bytes)
}

/// The text of a file. Bytes that are not UTF-8 become replacement characters; a byte order mark is left out.
#[must_use]
pub fn to_text(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}
