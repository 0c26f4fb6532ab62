//! Endace's extensible record format (ERF), which capture cards write: records one after another, without a header of the
//! file, or each in a record of pcap.
//!
//! ```text
//! time 64, little-endian: seconds and their fraction | type 8 | flags 8 | record length 16 | drops 16 | wire length 16
//! extension headers of 8 bytes each, while their first bit (of the first one: that of the type) announces another
//! Ethernet: offset 8, reserved 8 | frame | padding
//! ```

use super::frame::{Found, Step};
use rocescope_wire::{FrameLengths, LinkType};

/// The number of the link layer in pcap.
pub(super) const LINK: u32 = 197;
const HEADER_BYTES: usize = 16;
/// Types of Ethernet frames: plain, and with a color or a hash in place of the drops.
const ETHERNET: [u8; 4] = [2, 11, 16, 20];
/// The highest type that is defined.
const LAST_TYPE: u8 = 48;
/// Records are of these times, in seconds since the epoch: 1990 to 2100. Other bytes are no record.
const TIMES: std::ops::Range<u64> = 631_152_000..4_102_444_800;

/// A record.
#[derive(Clone, Copy)]
struct Record {
    record_bytes: usize,
    kind: u8,
    has_extensions: bool,
    wire_bytes: u32,
    seconds: u64,
    fraction: u64,
}

impl Record {
    fn read(bytes: &[u8]) -> Option<Self> {
        let [t0, t1, t2, t3, t4, t5, t6, t7, kind, _, r1, r0, _, _, w1, w0] = *bytes.first_chunk::<HEADER_BYTES>()?;
        Some(Self {
            record_bytes: usize::from(u16::from_be_bytes([r1, r0])),
            kind: kind & 0x7f,
            has_extensions: kind & 0x80 != 0,
            wire_bytes: u32::from(u16::from_be_bytes([w1, w0])),
            seconds: u64::from(u32::from_le_bytes([t4, t5, t6, t7])),
            fraction: u64::from(u32::from_le_bytes([t0, t1, t2, t3])),
        })
    }

    fn is_plausible(self) -> bool {
        let is_known = (1..=LAST_TYPE).contains(&self.kind);
        is_known && self.record_bytes >= HEADER_BYTES && TIMES.contains(&self.seconds)
    }

    const fn time_ns(self) -> u64 {
        self.seconds * 1_000_000_000 + ((self.fraction * 1_000_000_000) >> 32)
    }

    /// The frame in a whole record: its offset, or where the record ends too soon.
    fn frame(self, record: &[u8]) -> Option<(usize, FrameLengths)> {
        let mut at = HEADER_BYTES;
        let mut another = self.has_extensions;
        while another {
            another = record.get(at)? & 0x80 != 0;
            at += 8;
        }
        // Two bytes align the IP header.
        at += 2;
        let room = u32::try_from(record.len().checked_sub(at)?).ok()?;
        let captured = room.min(self.wire_bytes);
        Some((
            at,
            FrameLengths {
                captured,
                original: self.wire_bytes.max(captured),
            },
        ))
    }
}

/// Whether a file begins with a record.
pub(super) fn begins(bytes: &[u8]) -> bool {
    Record::read(bytes).is_some_and(Record::is_plausible)
}

/// Finds the next record of a file.
pub(super) fn step(bytes: &[u8]) -> Result<Step, String> {
    let Some(record) = Record::read(bytes) else {
        return Ok(Step::Need(HEADER_BYTES));
    };
    if !record.is_plausible() {
        return Err("no record of ERF".into());
    }
    let Some(whole) = bytes.get(..record.record_bytes) else {
        return Ok(Step::Need(record.record_bytes));
    };
    if !ETHERNET.contains(&record.kind) {
        return Ok(Step::Skip(record.record_bytes));
    }
    let (at, lengths) = record
        .frame(whole)
        .ok_or("a record of ERF that ends inside its headers")?;
    Ok(Step::Frame(Found {
        record_bytes: record.record_bytes,
        at,
        link: Some(LinkType::Ethernet),
        lengths,
        time_ns: record.time_ns(),
        interface: 0,
    }))
}

/// The frame in a record of another format, whose content is a record of ERF.
pub(super) fn inside(mut found: Found, bytes: &[u8]) -> Found {
    let content = found
        .at
        .checked_add(found.lengths.captured as usize)
        .and_then(|end| bytes.get(found.at..end))
        .unwrap_or_default();
    let record = Record::read(content).filter(|record| ETHERNET.contains(&record.kind));
    if let Some((at, lengths)) = record.and_then(|record| record.frame(content)) {
        found.at += at;
        found.lengths = lengths;
        found.link = Some(LinkType::Ethernet);
    }
    found
}
