//! Results on standard output: the one place that prints them.

use anyhow::{Context, Result};
use rocescope_engine::document::color;
use rocescope_model::human::is_visible;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};

/// Writes to standard output; a closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<()> {
    print_line(text).map(|_| ())
}

/// Writes to standard output; returns whether anyone still reads it.
pub(crate) fn print_line(text: &str) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    let text = harmless(text);
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.context("standard output").map(|()| true),
    }
}

/// Replaces what could control a terminal: names of files, interfaces and hosts are text of others. Lines and our own
/// colors remain.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| is_visible(c) || matches!(c, '\n' | '\t');
    // Nearly always.
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let color = color::SEQUENCES.into_iter().find(|color| rest.starts_with(color));
        match color {
            Some(color) => out.push_str(color),
            // The end of a line in CSV.
            None if is_harmless(first) || rest.starts_with("\r\n") => out.push(first),
            None => out.push('\u{fffd}'),
        }
        rest = &rest[color.map_or(first.len_utf8(), str::len)..];
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::harmless;

    /// The name of a capture file set the title of the terminal, and colored what followed.
    #[test]
    fn names_of_others_do_not_control_the_terminal() {
        let name = "\u{1b}[31mevil\u{1b}]0;title\u{7}\u{202e}.pcap\u{9b}2J\r";
        let expected = "\u{fffd}[31mevil\u{fffd}]0;title\u{fffd}\u{fffd}.pcap\u{fffd}2J\u{fffd}";
        assert_eq!(harmless(name), expected);
        for ours in ["a\tb\nc\r\n", "\u{1b}[1;31mFabric loss\u{1b}[0m\n", "größer, 中文"] {
            assert_eq!(harmless(ours), ours);
        }
    }
}
