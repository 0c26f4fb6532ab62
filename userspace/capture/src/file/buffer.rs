//! A window over a stream of bytes: consumed at the front, refilled at the back.

use std::io::{self, Read};

/// Fits the second-level cache, so that bytes which the kernel copied are still cached when read:
/// 256 KiB was the fastest of 64 KiB to 4 MiB over 460 MB of frames. The buffer grows for a longer record.
const CAPACITY: usize = 256 * 1024;

pub(super) struct Buffer<R> {
    input: R,
    bytes: Vec<u8>,
    /// The unconsumed bytes are `start..end`.
    start: usize,
    end: usize,
    /// Bytes consumed so far.
    consumed: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            bytes: vec![0; CAPACITY],
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
        while self.end - self.start < count {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            if self.bytes.len() < count {
                self.bytes.resize(count.next_power_of_two(), 0);
            }
            let space = self.bytes.get_mut(self.end..).unwrap_or_default();
            match self.input.read(space) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.bytes())
    }
}
