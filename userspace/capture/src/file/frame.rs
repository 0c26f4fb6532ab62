//! One frame, and what a format makes of the bytes at hand.

use rocescope_wire::{FrameLengths, LinkType};

/// One frame of a capture file.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its captured bytes.
    pub bytes: &'a [u8],
    /// How it begins; `None` for a link layer we do not read.
    pub link: Option<LinkType>,
    /// Bytes captured and bytes on the wire.
    pub lengths: FrameLengths,
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Index of the interface: 0 in pcap; in pcapng counted over all sections.
    pub interface: u32,
}

/// What a format makes of the bytes at hand.
pub(super) enum Step {
    /// More bytes are needed: as many as this in all, from the start of the record.
    Need(usize),
    /// This many bytes hold no frame.
    Skip(usize),
    /// A frame.
    Frame(Found),
}

/// Where a frame lies in the bytes at hand.
pub(super) struct Found {
    /// Bytes of the whole record.
    pub(super) record_bytes: usize,
    /// Offset of the frame in it.
    pub(super) at: usize,
    pub(super) link: Option<LinkType>,
    pub(super) lengths: FrameLengths,
    pub(super) time_ns: u64,
    pub(super) interface: u32,
}
