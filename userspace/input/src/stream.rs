//! A stream of bytes, uncompressed.

use crate::lz4::Lz4;
use crate::zstd::Zstd;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;

/// The compressions, for messages.
pub const FORMATS: &str = "gzip, zstd, xz, bzip2 or LZ4";

/// The memory that an xz file may ask for, in KiB: more than `xz -9` does (65 MiB).
const XZ_MEMORY: u32 = 128 << 10;

/// Bytes of a stream that are read at once.
const BUFFER: usize = 64 << 10;

/// A stream, with the bytes that were read to recognize it.
pub(crate) type Source = BufReader<Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>>;

/// Why an input cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A stream of bytes, uncompressed.
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

/// Opens a file. The first bytes, not the name, identify the compression.
///
/// # Errors
/// [`InputError::Io`], [`InputError::Empty`].
pub fn open(path: &Path) -> Result<Input, InputError> {
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
    /// [`InputError::Io`], [`InputError::Empty`].
    pub fn new(mut stream: Box<dyn Read + Send>) -> Result<Self, InputError> {
        let mut head = Vec::with_capacity(6);
        stream.by_ref().take(6).read_to_end(&mut head)?;
        if head.is_empty() {
            return Err(InputError::Empty);
        }
        let mut magic = [0; 6];
        for (to, from) in magic.iter_mut().zip(&head) {
            *to = *from;
        }
        let whole = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(stream));
        let (compressed, bytes): (bool, Box<dyn Read + Send>) = match magic {
            [0x1f, 0x8b, ..] => (true, Box::new(MultiGzDecoder::new(whole))),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => (true, Box::new(MultiBzDecoder::new(whole))),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => (true, Box::new(XzReader::new_mem_limit(whole, true, XZ_MEMORY))),
            [0x04, 0x22, 0x4d, 0x18, ..] => (true, Box::new(Lz4::new(whole))),
            // A frame, or a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => (true, Box::new(Zstd::new(whole))),
            _ => (false, Box::new(whole)),
        };
        Ok(Self {
            length: None,
            compressed,
            bytes,
        })
    }
}
