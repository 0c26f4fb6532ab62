//! Writes the classic pcap format: nanosecond times, little-endian, Ethernet.
//!
//! Two structures of fixed size need no crate.

use std::io::{self, Write};

/// `0xa1b23c4d`: times in nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;

/// Writes the header of the file.
pub(super) fn header(out: &mut impl Write, snaplen: u32) -> io::Result<()> {
    let mut bytes = [0; 24];
    put(&mut bytes, 0, MAGIC);
    // Version 2.4.
    put(&mut bytes, 4, 2 | 4 << 16);
    put(&mut bytes, 16, snaplen);
    put(&mut bytes, 20, ETHERNET);
    out.write_all(&bytes)
}

/// Writes a frame that passed `at_ns` nanoseconds after 1970.
pub(super) fn frame(out: &mut impl Write, at_ns: u64, original_bytes: u32, frame: &[u8]) -> io::Result<()> {
    let mut bytes = [0; 16];
    put(&mut bytes, 0, (at_ns / 1_000_000_000) as u32);
    put(&mut bytes, 4, (at_ns % 1_000_000_000) as u32);
    put(&mut bytes, 8, frame.len() as u32);
    put(&mut bytes, 12, original_bytes);
    out.write_all(&bytes)?;
    out.write_all(frame)
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}
