//! The last frames in a ring of bytes: the memory of the flight recorder.
//!
//! A frame is stored as a head of 24 bytes and its slice, a whole number of eight-byte words, never across
//! the ring's end. It is removed when it is older than the span, or when a new one needs its space. The
//! memory is allocated once, and the kernel commits it page by page at the first write.
//!
//! ```
//! use rocescope_capture::{file::Frame, history::History};
//! use rocescope_wire::{FrameLengths, LinkType};
//!
//! let mut history = History::new(1 << 16, 2_000_000_000)?;
//! for second in 0..5 {
//!     let frame = Frame {
//!         bytes: &[0; 64],
//!         link: Some(LinkType::Ethernet),
//!         lengths: FrameLengths::whole(64),
//!         time_ns: second * 1_000_000_000,
//!         interface: 0,
//!     };
//!     history.push(&frame, 42, 0);
//! }
//! let held: Vec<_> = history.since(history.oldest()).collect();
//! assert_eq!(held.len(), 3);
//! assert_eq!((held[0].frame.bytes.len(), held[0].frame.lengths.original), (42, 64));
//! # Ok::<(), std::collections::TryReserveError>(())
//! ```

use crate::file::{Frame, number};
use rocescope_wire::{FrameLengths, LinkType};
use std::collections::TryReserveError;

/// The longest slice of a frame. The headers of a doubly tagged IPv6 frame in a mirror's IPv6 tunnel have
/// fewer than 250 bytes.
pub const SLICE_MAX: usize = 512;
const HEAD: usize = 24;
const WORD: usize = 8;
/// Space for a hundred of the longest slices: a smaller ring is useless.
const RING_MIN: usize = 1 << 16;
/// In place of a timestamp: the ring continues at its beginning.
const GOES_ON: u64 = u64::MAX;

/// The last frames.
#[derive(Debug)]
pub struct History {
    ring: Vec<u8>,
    span_ns: u64,
    first: Position,
    next: Position,
    /// Frames removed before the span ended, and the shortest time that one was held.
    overwritten: u64,
    shortest_ns: Option<u64>,
}

/// A position between two frames: the bytes and the frames written to the ring before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    at: u64,
    frames: u64,
    /// The offset in the ring: `at` modulo its length, without a division a frame.
    index: usize,
}

impl Position {
    /// Advances, never over the ring's end.
    const fn advance(&mut self, bytes: usize, ring: usize) {
        self.at += bytes as u64;
        self.index += bytes;
        if self.index == ring {
            self.index = 0;
        }
    }

    /// Frames between the two; 0 where `earlier` is the later one.
    #[must_use]
    pub const fn frames_since(self, earlier: Self) -> u64 {
        self.frames.saturating_sub(earlier.frames)
    }
}

/// A frame in the history.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'a> {
    /// The stored slice, with the length on the wire.
    pub frame: Frame<'a>,
    /// The mark that its owner set.
    pub mark: u8,
    /// The position after it.
    pub after: Position,
}

/// The head before a slice.
struct Head {
    time_ns: u64,
    interface: u32,
    original: u32,
    bytes: u16,
    link: u16,
    mark: u8,
}

impl Head {
    fn write(&self) -> [u8; HEAD] {
        let mut out = [0; HEAD];
        out[..8].copy_from_slice(&self.time_ns.to_ne_bytes());
        out[8..12].copy_from_slice(&self.interface.to_ne_bytes());
        out[12..16].copy_from_slice(&self.original.to_ne_bytes());
        out[16..18].copy_from_slice(&self.bytes.to_ne_bytes());
        out[18..20].copy_from_slice(&self.link.to_ne_bytes());
        out[20] = self.mark;
        out
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEAD] = bytes.first_chunk()?;
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Self {
            time_ns: u64::from_ne_bytes(*bytes.first_chunk()?),
            interface: word(8),
            original: word(12),
            bytes: half(16),
            link: half(18),
            mark: bytes[20],
        })
    }

    fn record_bytes(&self) -> usize {
        record_bytes(usize::from(self.bytes))
    }
}

const fn record_bytes(slice: usize) -> usize {
    HEAD + slice.next_multiple_of(WORD)
}

impl History {
    /// Creates a history of `span_ns` nanoseconds in `bytes` bytes, rounded to whole words and at least
    /// 64 KiB.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(bytes: usize, span_ns: u64) -> Result<Self, TryReserveError> {
        let bytes = bytes.max(RING_MIN);
        let bytes = bytes - bytes % WORD;
        // Reserved and released as a test: a zeroed allocation cannot return an error.
        Vec::<u8>::new().try_reserve_exact(bytes)?;
        Ok(Self {
            ring: vec![0; bytes],
            span_ns,
            first: Position::default(),
            next: Position::default(),
            overwritten: 0,
            shortest_ns: None,
        })
    }

    /// Stores the first `slice` bytes of a frame, limited to the captured length and [`SLICE_MAX`]. Ignores
    /// a frame of an unsupported link layer.
    #[inline]
    pub fn push(&mut self, frame: &Frame<'_>, slice: usize, mark: u8) {
        let Some(link) = frame.link else { return };
        let bytes = &frame.bytes[..slice.min(frame.bytes.len()).min(SLICE_MAX)];
        let time_ns = frame.time_ns.min(GOES_ON - 1);
        self.forget(time_ns);
        let needed = record_bytes(bytes.len());
        let left = self.ring.len() - self.next.index;
        if left < needed {
            self.make_room(left, time_ns);
            let at = self.next.index;
            self.ring[at..at + WORD].copy_from_slice(&GOES_ON.to_ne_bytes());
            self.next.advance(left, self.ring.len());
        }
        self.make_room(needed, time_ns);
        let at = self.next.index;
        let head = Head {
            time_ns,
            interface: frame.interface,
            original: frame.lengths.original,
            bytes: bytes.len() as u16,
            link: number(link),
            mark,
        };
        let (to_head, to_slice) = self.ring[at..at + needed].split_at_mut(HEAD);
        to_head.copy_from_slice(&head.write());
        to_slice[..bytes.len()].copy_from_slice(bytes);
        self.next.advance(needed, self.ring.len());
        self.next.frames += 1;
    }

    /// The position before the oldest frame.
    #[must_use]
    pub const fn oldest(&self) -> Position {
        self.first
    }

    /// The frames after a position, in the order of arrival; starts with the oldest frame if those right
    /// after the position are gone.
    pub fn since(&self, position: Position) -> impl Iterator<Item = Remembered<'_>> {
        let mut position = if position.at < self.first.at {
            self.first
        } else {
            position
        };
        std::iter::from_fn(move || {
            let head = self.seek(&mut position)?;
            let from = position.index + HEAD;
            let bytes = self.ring.get(from..from + usize::from(head.bytes))?;
            position.advance(head.record_bytes(), self.ring.len());
            position.frames += 1;
            Some(Remembered {
                frame: Frame {
                    bytes,
                    link: LinkType::from_number(head.link.into()),
                    lengths: FrameLengths {
                        captured: head.bytes.into(),
                        original: head.original,
                    },
                    time_ns: head.time_ns,
                    interface: head.interface,
                },
                mark: head.mark,
                after: position,
            })
        })
    }

    /// Frames removed for space before they reached the span.
    #[must_use]
    pub const fn overwritten(&self) -> u64 {
        self.overwritten
    }

    /// The shortest time, in nanoseconds, that one of those was held.
    #[must_use]
    pub const fn shortest_ns(&self) -> Option<u64> {
        self.shortest_ns
    }

    /// Removes frames that are older than the span at `time_ns`, the newest frame's own timestamp and not
    /// the latest of all: a frame dated far ahead must not remove those that follow.
    fn forget(&mut self, time_ns: u64) {
        while let Some(head) = self.head()
            && head.time_ns.saturating_add(self.span_ns) < time_ns
        {
            self.drop_first(&head);
        }
    }

    /// Removes the oldest frames until `needed` more bytes fit.
    fn make_room(&mut self, needed: usize, time_ns: u64) {
        let max = self.ring.len() as u64;
        while self.next.at + needed as u64 - self.first.at > max
            && let Some(head) = self.head()
        {
            self.overwritten += 1;
            // The holding time of a frame dated ahead is unknown.
            if let Some(held_ns) = time_ns.checked_sub(head.time_ns) {
                let shortest = self.shortest_ns.get_or_insert(held_ns);
                *shortest = held_ns.min(*shortest);
            }
            self.drop_first(&head);
        }
    }

    fn drop_first(&mut self, head: &Head) {
        self.first.advance(head.record_bytes(), self.ring.len());
        self.first.frames += 1;
    }

    /// The head of the oldest frame.
    #[inline]
    fn head(&mut self) -> Option<Head> {
        let mut first = self.first;
        let head = self.seek(&mut first);
        self.first = first;
        head
    }

    /// The head after a position, which moves over the ring's end.
    #[inline]
    fn seek(&self, position: &mut Position) -> Option<Head> {
        while position.at < self.next.at {
            let rest = self.ring.get(position.index..)?;
            if rest.first_chunk() != Some(&GOES_ON.to_ne_bytes()) {
                return Head::read(rest);
            }
            position.advance(rest.len(), self.ring.len());
        }
        None
    }
}

#[cfg(test)]
mod tests;
