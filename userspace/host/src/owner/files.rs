//! Files that others write: never more of them than needed, and only characters that can be shown.

use rocescope_model::Text;
use rocescope_model::human::is_visible;
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The first `max` bytes of a file. A pipe or a device in its place does not block: it is none.
pub(super) fn read(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same as text, with U+FFFD for what is not UTF-8.
pub(super) fn text(path: &Path, max: usize) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&read(path, max)?).into_owned())
}

/// A name of at most `max` bytes in which every character can be shown; `None` if it is empty.
pub(super) fn name(text: &str, max: usize) -> Option<Text> {
    let mut shown = String::new();
    for c in text.trim().chars() {
        let c = if is_visible(c) { c } else { '\u{fffd}' };
        if shown.len() + c.len_utf8() > max {
            break;
        }
        shown.push(c);
    }
    (!shown.is_empty()).then(|| shown.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_the_begin_of_a_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        fs::write(&path, vec![b'x'; 10_000]).unwrap();
        assert_eq!(read(&path, 16).unwrap(), [b'x'; 16]);
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for other in [&directory.path().join("none"), directory.path(), &socket] {
            assert!(read(other, 16).is_err(), "{}", other.display());
        }
    }

    #[test]
    fn names_are_shown_as_they_are_and_cannot_write_to_a_terminal() {
        assert_eq!(name("  train.service\n", 64).as_deref(), Some("train.service"));
        assert_eq!(name("a\u{1b}[2Jb", 64).as_deref(), Some("a\u{fffd}[2Jb"));
        // A character is not cut.
        assert_eq!(name("aäb", 2).as_deref(), Some("a"));
        assert_eq!(name(" \n", 64), None);
    }
}
