//! Lines of a text, for messages.

/// A message with the line that it is about.
pub type LineError = (Option<usize>, String);

/// The line of a byte of a text, from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}
