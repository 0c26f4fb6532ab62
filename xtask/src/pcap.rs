//! Enough of the classic capture format to split and join captures: the tasks must not test a reader with itself.

use anyhow::{Result, ensure};

/// Header of a file of Ethernet frames with microseconds, little-endian.
pub const HEADER: [u8; 24] = [
    0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
];
const HEADER_BYTES: usize = HEADER.len();
/// Seconds, microseconds, bytes captured, bytes on the wire.
pub const RECORD_BYTES: usize = 16;

/// A capture in memory.
#[derive(Debug)]
pub struct Pcap {
    bytes: Vec<u8>,
}

impl Pcap {
    /// Parses the bytes of a file.
    pub fn new(bytes: Vec<u8>) -> Result<Self> {
        ensure!(
            bytes.len() >= HEADER_BYTES && bytes[..4] == HEADER[..4],
            "not a little-endian capture with microseconds"
        );
        Ok(Self { bytes })
    }

    /// The file up to the end of its frame number `count`.
    pub fn first(&self, count: usize) -> &[u8] {
        let records: usize = self.records().take(count).map(<[u8]>::len).sum();
        &self.bytes[..HEADER_BYTES + records]
    }

    /// The records, each with its header.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[HEADER_BYTES..];
        std::iter::from_fn(move || {
            let captured = rest.get(8..)?.first_chunk::<4>()?;
            let bytes = RECORD_BYTES + u32::from_le_bytes(*captured) as usize;
            let (record, behind) = rest.split_at_checked(bytes)?;
            rest = behind;
            Some(record)
        })
    }

    /// The frames.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.records().map(|record| &record[RECORD_BYTES..])
    }
}
