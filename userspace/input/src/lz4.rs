//! Consecutive LZ4 frames.

use crate::stream::Source;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufRead, Read};

/// The content of all frames.
pub(crate) struct Lz4 {
    decoder: FrameDecoder<Endless>,
    in_frame: bool,
}

impl Lz4 {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            decoder: FrameDecoder::new(Endless(source)),
            in_frame: false,
        }
    }
}

impl Read for Lz4 {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if buf.is_empty() || !self.in_frame && self.decoder.get_mut().0.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let read = self.decoder.read(buf)?;
            // Nothing is the end of a frame.
            self.in_frame = read > 0;
            if self.in_frame {
                return Ok(read);
            }
        }
    }
}

/// A source whose end is an error: the decoder takes it for the end of a frame.
struct Endless(Source);

impl Read for Endless {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buf)? {
            0 if !buf.is_empty() => Err(io::Error::other("the end of a frame is missing")),
            read => Ok(read),
        }
    }
}
