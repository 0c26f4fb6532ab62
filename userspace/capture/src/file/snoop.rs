//! The format of `snoop` (RFC 1761): a header, then records, all in network order.

use super::error::FileError;
use super::frame::{Found, Step};
use rocescope_wire::{FrameLengths, LinkType};

/// The first bytes of a file.
pub(super) const MAGIC: [u8; 8] = *b"snoop\0\0\0";
/// The magic, a version and the link layer.
pub(super) const HEADER_BYTES: usize = 16;
/// Lengths of frame, captured bytes and record, drops, seconds and microseconds.
const RECORD_HEADER_BYTES: usize = 24;
/// A record that claims more is damaged.
const LONGEST_RECORD: u32 = 1024 * 1024;

/// Checks the header of the file.
pub(super) fn check(header: &[u8]) -> Result<(), FileError> {
    match header.get(12..16) {
        Some([0, 0, 0, 4]) => Ok(()),
        Some(link) => Err(FileError::LinkType(
            link.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
        )),
        None => Err(FileError::CutShort {
            frames: 0,
            at: 0,
            left: header.len() as u64,
        }),
    }
}

/// Finds the next record.
pub(super) fn step(bytes: &[u8]) -> Result<Step, String> {
    let Some(header) = bytes.first_chunk::<RECORD_HEADER_BYTES>() else {
        return Ok(Step::Need(RECORD_HEADER_BYTES));
    };
    let (words, _) = header.as_chunks::<4>();
    let word = |at: usize| words.get(at).map_or(0, |word| u32::from_be_bytes(*word));
    let [original, captured, record, _, seconds, microseconds] = std::array::from_fn(word);
    let is_whole = record as usize >= RECORD_HEADER_BYTES + captured as usize;
    if record > LONGEST_RECORD || captured > LONGEST_RECORD || !is_whole {
        return Err(format!("a record of {record} bytes with a frame of {captured} bytes"));
    }
    if bytes.len() < record as usize {
        return Ok(Step::Need(record as usize));
    }
    Ok(Step::Frame(Found {
        record_bytes: record as usize,
        at: RECORD_HEADER_BYTES,
        link: Some(LinkType::Ethernet),
        lengths: FrameLengths {
            captured,
            original: original.max(captured),
        },
        time_ns: u64::from(seconds) * 1_000_000_000 + u64::from(microseconds) * 1_000,
        interface: 0,
    }))
}
