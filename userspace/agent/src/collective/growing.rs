//! What was appended to a file since the last read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes of a file in one turn; the rest is for the next one.
const MAX_BYTES: u64 = 4 << 20;

/// A file.
#[derive(Debug)]
pub(super) struct Growing {
    path: PathBuf,
    /// The device and the number of the file, which another file of this name has not.
    identity: Option<(u64, u64)>,
    read: u64,
    /// What is before was there at the start.
    old: u64,
}

/// A part of a file.
pub(super) struct Piece {
    pub(super) text: String,
    /// It is the start of another file of this name, or of one that was cut.
    pub(super) is_another: bool,
    /// It was there at the start.
    pub(super) is_old: bool,
}

/// The files of these paths; those of folders are not searched further.
pub(super) fn list(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        match fs::read_dir(path) {
            Ok(entries) => {
                let inside = entries.flatten().map(|entry| entry.path());
                files.extend(inside.filter(|path| path.is_file()));
            }
            // A job may create it later.
            Err(_) if path.is_file() => files.push(path.clone()),
            Err(_) => {}
        }
    }
    files.sort();
    files.dedup();
    files
}

impl Growing {
    /// A file that is at its start; with `is_old`, all that it has now is old.
    pub(super) fn new(path: &Path, is_old: bool) -> Self {
        let length = fs::metadata(path).map_or(0, |metadata| metadata.len());
        Self {
            path: path.to_owned(),
            identity: None,
            read: 0,
            old: if is_old { length } else { 0 },
        }
    }

    /// What was appended since the last read.
    pub(super) fn read(&mut self) -> io::Result<Option<Piece>> {
        // Most files of most turns have nothing new, and need not be opened.
        let metadata = fs::metadata(&self.path)?;
        let identity = Some((metadata.dev(), metadata.ino()));
        let is_another = self.identity.is_some() && (self.identity != identity || metadata.len() < self.read);
        self.identity = identity;
        if is_another {
            (self.read, self.old) = (0, 0);
        }
        if metadata.len() == self.read {
            return Ok(None);
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let is_old = self.read < self.old;
        let most = match is_old {
            true => MAX_BYTES.min(self.old - self.read),
            false => MAX_BYTES,
        };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        let whole = whole_characters(&bytes);
        self.read += whole as u64;
        Ok(Some(Piece {
            text: String::from_utf8_lossy(&bytes[..whole]).into_owned(),
            is_another,
            is_old,
        }))
    }
}

/// The length without a character that is cut at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        // Broken bytes before the end are replaced, and only those at the end may become whole.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}
