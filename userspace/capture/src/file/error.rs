//! Errors of capture files.

use rocescope_input::{FORMATS as COMPRESSIONS, InputError};
use std::io;
use std::path::PathBuf;

/// Why a capture could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The first bytes match no capture format.
    #[error("not a capture file: expected pcap, pcapng, ERF or snoop, plain or compressed ({COMPRESSIONS}), but it starts with {}", start(.0))]
    NotACapture(Vec<u8>),
    /// An unsupported link layer.
    #[error(
        "link type {0} is not supported: only Ethernet (1), raw IP (101, 228, 229), Linux cooked (113, 276) and ERF (197)"
    )]
    LinkType(u32),
    /// The file ends inside a record: it was truncated or is still being written.
    #[error("the file ends inside a record: {left} bytes remain at byte {at}, after {frames} whole frames")]
    CutShort {
        /// Whole frames before the record.
        frames: u64,
        /// Offset of the record in the uncompressed bytes.
        at: u64,
        /// Bytes of the record in the file.
        left: u64,
    },
    /// A record contradicts itself.
    #[error("the file is damaged at byte {at}, after {frames} whole frames: {what}")]
    Corrupt {
        /// Whole frames before the record.
        frames: u64,
        /// Offset of the record in the uncompressed bytes.
        at: u64,
        /// The contradiction.
        what: String,
    },
    /// A file, and why it could not be read to its end.
    #[error("{}: {cause}", path.display())]
    Named {
        /// Its path.
        path: PathBuf,
        /// Part of the message and therefore not a source: an error chain would print it twice.
        cause: Box<FileError>,
    },
    /// Some of several files could not be read to their end. All frames of the others were read.
    #[error("{} of {files} files could not be read to the end: {}", .damaged.len(), .damaged.join("; "))]
    Some {
        /// Number of files.
        files: usize,
        /// The path of each of these files, and the reason.
        damaged: Vec<String>,
    },
    /// A directory without a capture file.
    #[error("no capture files in this directory; if it is a dataset, `rocescope report` reads it")]
    NoFiles,
    /// The bytes could not be read or decompressed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<InputError> for FileError {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Empty => Self::Empty,
            InputError::Io(error) => Self::Io(error),
        }
    }
}

/// The first bytes: as text if they are, else in hexadecimal.
fn start(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match bytes.iter().all(is_text) {
        true => format!("the text {:?}", String::from_utf8_lossy(bytes)),
        false => format!("{bytes:02x?}"),
    }
}
