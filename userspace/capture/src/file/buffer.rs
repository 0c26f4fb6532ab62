//! A window over a stream of bytes: consumed at the front, refilled at the back.

use super::read_ahead::{HEADROOM, ReadAhead};
use std::io::{self, Read};

/// Fits the second-level cache, so that bytes which the kernel copied are still cached when read:
/// 256 KiB was the fastest of 64 KiB to 4 MiB over 460 MB of frames. The buffer grows for a longer record.
pub(super) const CAPACITY: usize = 256 * 1024;

pub(super) struct Buffer<R> {
    source: Source<R>,
    bytes: Vec<u8>,
    /// The unconsumed bytes are `start..end`.
    start: usize,
    end: usize,
    /// Bytes consumed so far.
    consumed: u64,
}

/// Where the bytes come from.
enum Source<R> {
    /// The stream itself.
    Direct(R),
    /// A thread that reads it.
    Ahead(ReadAhead),
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(input: R) -> Self {
        Self::of(Source::Direct(input), vec![0; CAPACITY])
    }

    /// A window over a stream that a thread reads.
    pub(super) fn ahead(reader: ReadAhead) -> Self {
        Self::of(Source::Ahead(reader), Vec::new())
    }

    fn of(source: Source<R>, bytes: Vec<u8>) -> Self {
        Self {
            source,
            bytes,
            start: 0,
            end: 0,
            consumed: 0,
        }
    }

    /// The buffered bytes.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Consumes `count` of the buffered bytes.
    #[inline(always)]
    pub(super) fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.consumed += count as u64;
    }

    /// Consumes `count` of the buffered bytes and returns them.
    #[inline(always)]
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let start = self.start;
        self.consume(count);
        self.bytes.get(start..self.start).unwrap_or_default()
    }

    /// Reads until at least `count` bytes are buffered or the input ends.
    pub(super) fn at_least(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count && self.refill(count)? {}
        Ok(self.bytes())
    }

    /// Reads once more, so that `count` bytes may fit; `false` at the end of the input.
    fn refill(&mut self, count: usize) -> io::Result<bool> {
        let ahead = match &mut self.source {
            Source::Ahead(ahead) => ahead,
            Source::Direct(input) => {
                if self.start > 0 {
                    self.bytes.copy_within(self.start..self.end, 0);
                    self.end -= self.start;
                    self.start = 0;
                }
                if self.bytes.len() < count {
                    self.bytes.resize(count.next_power_of_two(), 0);
                }
                let space = self.bytes.get_mut(self.end..).unwrap_or_default();
                return match input.read(space) {
                    Ok(read) => {
                        self.end += read;
                        Ok(read > 0)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
                    Err(error) => Err(error),
                };
            }
        };
        let Some(mut next) = ahead.next()? else {
            return Ok(false);
        };
        let rest = self.bytes.get(self.start..self.end).unwrap_or_default();
        let used = match HEADROOM.checked_sub(rest.len()) {
            // The rest of this buffer moves in front of the next one.
            Some(start) => {
                if let Some(room) = next.bytes.get_mut(start..HEADROOM) {
                    room.copy_from_slice(rest);
                }
                (self.start, self.end) = (start, next.end);
                std::mem::replace(&mut self.bytes, next.bytes)
            }
            // A record longer than the headroom: the next buffer is appended to this one.
            None => {
                self.bytes.truncate(self.end);
                self.bytes
                    .extend_from_slice(next.bytes.get(HEADROOM..next.end).unwrap_or_default());
                self.end = self.bytes.len();
                next.bytes
            }
        };
        ahead.reuse(used);
        Ok(true)
    }
}
