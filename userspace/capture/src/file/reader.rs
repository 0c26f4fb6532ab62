//! Reads the frames of a capture file one by one.

use super::buffer::Buffer;
use super::error::FileError;
use super::frame::{Found, Frame, Step};
use super::read_ahead::ReadAhead;
use super::{erf, pcap, pcapng, snoop};
use std::io::Read;

enum Format {
    Pcap(pcap::Pcap),
    PcapNg(pcapng::PcapNg),
    Erf,
    Snoop,
}

/// Reads the frames of a capture.
pub struct FrameReader<R> {
    buffer: Buffer<R>,
    format: Format,
    frames: u64,
    /// The next frame, if it was found already.
    found: Option<Found>,
}

impl<R> std::fmt::Debug for FrameReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameReader")
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

impl<R: Read> FrameReader<R> {
    /// Starts to read a capture; its first bytes identify the format.
    ///
    /// # Errors
    /// [`FileError::Empty`], [`FileError::NotACapture`], [`FileError::LinkType`],
    /// [`FileError::Corrupt`] or [`FileError::Io`].
    pub fn new(input: R) -> Result<Self, FileError> {
        Self::of(Buffer::new(input))
    }

    /// Like [`new`](Self::new), but a thread reads the input, and decompresses it, ahead of the frames.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); the thread cannot be started.
    pub fn ahead(input: R) -> Result<Self, FileError>
    where
        R: Send + 'static,
    {
        Self::of(Buffer::ahead(ReadAhead::start(input)?))
    }

    fn of(mut buffer: Buffer<R>) -> Result<Self, FileError> {
        let head = buffer.at_least(16)?;
        let head: [u8; 16] = std::array::from_fn(|at| head.get(at).copied().unwrap_or_default());
        let is_empty = buffer.bytes().is_empty();
        let format = match head {
            _ if is_empty => return Err(FileError::Empty),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Format::PcapNg(pcapng::PcapNg::default()),
            _ if head.starts_with(&snoop::MAGIC) => {
                snoop::check(buffer.at_least(snoop::HEADER_BYTES)?)?;
                buffer.consume(snoop::HEADER_BYTES);
                Format::Snoop
            }
            _ if !pcap::is_known(&head) && erf::begins(&head) => Format::Erf,
            _ => {
                let (format, header_bytes) = pcap::Pcap::read_header(buffer.at_least(24)?)?;
                buffer.consume(header_bytes);
                Format::Pcap(format)
            }
        };
        Ok(Self {
            buffer,
            format,
            frames: 0,
            found: None,
        })
    }

    /// Bytes of the (uncompressed) capture consumed so far.
    pub fn consumed_bytes(&self) -> u64 {
        self.buffer.consumed()
    }

    /// The next frame, `None` at the end.
    ///
    /// # Errors
    /// [`FileError::CutShort`] when the capture ends inside a record, [`FileError::Corrupt`] when a
    /// record contradicts itself, [`FileError::Io`]. All frames before were yielded.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError> {
        let found = match self.found.take() {
            Some(found) => found,
            None => match self.find()? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        self.frames += 1;
        let record = self.buffer.take(found.record_bytes);
        let end = found.at + found.lengths.captured as usize;
        Ok(Some(Frame {
            bytes: record.get(found.at..end).unwrap_or_default(),
            link: found.link,
            lengths: found.lengths,
            time_ns: found.time_ns,
            interface: found.interface,
        }))
    }

    /// The time of the next frame, which [`next_frame`](Self::next_frame) then returns; `None` at the end.
    ///
    /// # Errors
    /// Those of [`next_frame`](Self::next_frame).
    #[inline]
    pub fn peek_ns(&mut self) -> Result<Option<u64>, FileError> {
        if self.found.is_none() {
            self.found = self.find()?;
        }
        Ok(self.found.as_ref().map(|found| found.time_ns))
    }

    #[inline]
    fn find(&mut self) -> Result<Option<Found>, FileError> {
        loop {
            let step = match &mut self.format {
                Format::Pcap(format) => format.step(self.buffer.bytes()),
                Format::PcapNg(format) => format.step(self.buffer.bytes()),
                Format::Erf => erf::step(self.buffer.bytes()),
                Format::Snoop => snoop::step(self.buffer.bytes()),
            };
            match step.map_err(|what| self.corrupt(what))? {
                Step::Frame(found) => return Ok(Some(found)),
                Step::Skip(bytes) => self.buffer.consume(bytes),
                Step::Need(bytes) => {
                    if self.buffer.at_least(bytes)?.len() < bytes {
                        return match self.buffer.bytes().len() {
                            0 => Ok(None),
                            left => Err(FileError::CutShort {
                                frames: self.frames,
                                at: self.buffer.consumed(),
                                left: left as u64,
                            }),
                        };
                    }
                }
            }
        }
    }

    #[cold]
    fn corrupt(&self, what: String) -> FileError {
        FileError::Corrupt {
            frames: self.frames,
            at: self.buffer.consumed(),
            what,
        }
    }
}
