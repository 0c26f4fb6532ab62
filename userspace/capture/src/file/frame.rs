//! A frame, and the result of parsing buffered bytes.

use rocescope_wire::{FrameLengths, LinkType};

/// One frame of a capture file.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its captured bytes.
    pub bytes: &'a [u8],
    /// The link layer; `None` if unsupported.
    pub link: Option<LinkType>,
    /// Bytes captured and bytes on the wire.
    pub lengths: FrameLengths,
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Index of the interface: 0 in pcap; in pcapng counted over all sections.
    pub interface: u32,
}

/// The result of parsing buffered bytes.
pub(super) enum Step {
    /// More bytes are needed: this many in total from the start of the record.
    Need(usize),
    /// Skip this many bytes, which hold no frame.
    Skip(usize),
    /// A frame.
    Frame(Found),
}

/// The position of a frame in the buffered bytes.
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
