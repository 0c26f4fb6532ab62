//! A stream that knows how many bytes went into it.

use std::io::{self, Write};

pub(super) struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W> Counted<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out, bytes: 0 }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
