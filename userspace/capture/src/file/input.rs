//! Files, pipes and compressed streams as one stream of bytes.

use super::error::FileError;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

/// The bytes of a capture, uncompressed.
pub struct Input {
    /// Length of the file on disk in bytes, for progress; `None` for a pipe or a compressed file.
    pub length: Option<u64>,
    compressed: bool,
    bytes: Box<dyn Read + Send>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buf);
        read.map_err(|error| match (self.compressed, error.kind()) {
            (false, _) | (_, io::ErrorKind::Interrupted) => error,
            (true, kind) => {
                let message = format!("the compressed data is damaged or ends early ({error})");
                io::Error::new(kind, message)
            }
        })
    }
}

/// Opens a capture. The first bytes, not the name, identify the compression.
///
/// # Errors
/// [`FileError::Io`], [`FileError::Empty`].
pub fn open(path: &Path) -> Result<Input, FileError> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let length = metadata.is_file().then_some(metadata.len());
    let input = Input::new(Box::new(file))?;
    Ok(Input {
        // The length of a compressed file is no measure of progress.
        length: length.filter(|_| !input.compressed),
        ..input
    })
}

impl Input {
    /// The uncompressed bytes of a stream. Its first bytes identify the compression.
    ///
    /// # Errors
    /// [`FileError::Io`], [`FileError::Empty`].
    pub fn new(mut stream: Box<dyn Read + Send>) -> Result<Self, FileError> {
        let mut head = Vec::with_capacity(4);
        stream.by_ref().take(4).read_to_end(&mut head)?;
        let magic: [u8; 4] = match head.as_slice().try_into() {
            Ok(magic) => magic,
            Err(_) if head.is_empty() => return Err(FileError::Empty),
            Err(_) => [0; 4],
        };
        let whole = Cursor::new(head).chain(stream);
        let (compressed, bytes): (bool, Box<dyn Read + Send>) = match magic {
            [0x1f, 0x8b, ..] => (true, Box::new(MultiGzDecoder::new(whole))),
            // A frame, or a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                (true, Box::new(Zstd::new(BufReader::new(whole))))
            }
            _ => (false, Box::new(whole)),
        };
        Ok(Self {
            length: None,
            compressed,
            bytes,
        })
    }
}

type Source = BufReader<Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>>;

/// Consecutive Zstandard frames, without the skippable ones.
struct Zstd {
    source: Source,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl Zstd {
    fn new(source: Source) -> Self {
        Self {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Compares the content of a whole frame with its checksum, if the frame has one: the decoder does not.
    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(expected) if self.decoder.get_calculated_checksum() != Some(expected) => {
                Err(io::Error::other("the content does not match its checksum"))
            }
            _ => Ok(()),
        }
    }

    /// Advances to the next frame; `false` at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let mut skipped = self.source.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

impl Read for Zstd {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                self.in_frame = self.next_frame()?;
                if !self.in_frame {
                    return Ok(0);
                }
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let read = self.decoder.read(buf)?;
            if read > 0 || buf.is_empty() {
                return Ok(read);
            }
            self.in_frame = false;
            self.check()?;
        }
    }
}
