//! What can be wrong with a capture file.

use std::io;

/// Why a capture could not be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is not one byte in it.
    #[error("the file is empty")]
    Empty,
    /// Its first bytes are those of no capture format.
    #[error(
        "not a capture file: it begins with {0:02x?}, where pcap, pcapng, gzip or zstd was expected"
    )]
    NotACapture(Vec<u8>),
    /// Frames of a link layer that we do not read.
    #[error(
        "link type {0} is not supported: only Ethernet (1), raw IP (101, 228, 229) and Linux cooked (113, 276)"
    )]
    LinkType(u32),
    /// It ends inside a record: the capture was cut, or is still being written.
    #[error(
        "the file ends inside a record: {left} bytes are left over at byte {at}, behind {frames} whole frames"
    )]
    CutShort {
        /// Frames before.
        frames: u64,
        /// Offset of the record in the uncompressed bytes.
        at: u64,
        /// Bytes of the record that are there.
        left: u64,
    },
    /// A record contradicts itself.
    #[error("the file is damaged at byte {at}, behind {frames} whole frames: {what}")]
    Corrupt {
        /// Frames before.
        frames: u64,
        /// Offset of the record in the uncompressed bytes.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// The bytes could not be read or decompressed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
