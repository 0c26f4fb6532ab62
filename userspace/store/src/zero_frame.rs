//! Writes a Zstandard frame of bytes that are mostly zero, without looking at the zeros.
//!
//! A frame ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878), section 3.1) is a header and blocks. Two kinds of block
//! are enough: raw ones hold bytes, and one of 4 bytes repeats a byte up to 128 KiB. An empty Count-Min table of 512 KiB
//! is 5 blocks. Every decoder reads it; LZ4 needs a byte for each 255 zeros, deflate two bits for each 258.

/// Bytes that a block may stand for.
const LONGEST_BLOCK: usize = 128 << 10;
/// Fewer zeros are cheaper inside a raw block than between two: 4 bytes, and 3 for the header of the next.
const FEWEST_ZEROS: usize = 8;
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// One segment, and the length of the content in 4 bytes; no checksum, no dictionary.
const DESCRIPTOR: u8 = 0b1010_0000;
const RAW: u32 = 0;
const REPEATED: u32 = 1;

/// A frame that is being written.
#[derive(Debug)]
pub(crate) struct ZeroFrame {
    frame: Vec<u8>,
    /// Bytes for the next raw block, and zeros after them.
    literal: Vec<u8>,
    zeros: usize,
    /// Length of the content so far.
    len: usize,
    /// Position of the last block's header.
    last: usize,
}

impl ZeroFrame {
    pub(crate) fn new() -> Self {
        let mut frame = Vec::from(MAGIC);
        frame.push(DESCRIPTOR);
        frame.extend([0; 4]);
        Self {
            frame,
            literal: Vec::new(),
            zeros: 0,
            len: 0,
            last: 0,
        }
    }

    /// Length of the content so far.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Appends bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.zeros < FEWEST_ZEROS {
            self.literal.resize(self.literal.len() + self.zeros, 0);
            self.zeros = 0;
        } else {
            self.blocks();
        }
        self.literal.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends zeros.
    pub(crate) fn zeros(&mut self, count: usize) {
        self.zeros += count;
        self.len += count;
    }

    /// Ends the frame; `None` if its content is longer than 4 GiB.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.blocks();
        if self.last == 0 {
            self.header(RAW, 0);
        }
        // The first bit of a block's header marks the last.
        *self.frame.get_mut(self.last)? |= 1;
        let len = u32::try_from(self.len).ok()?;
        self.frame.get_mut(5..9)?.copy_from_slice(&len.to_le_bytes());
        Some(self.frame)
    }

    /// Writes the waiting bytes, then the waiting zeros.
    fn blocks(&mut self) {
        let literal = std::mem::take(&mut self.literal);
        for part in literal.chunks(LONGEST_BLOCK) {
            self.header(RAW, part.len());
            self.frame.extend_from_slice(part);
        }
        self.literal = literal;
        self.literal.clear();
        let mut zeros = std::mem::take(&mut self.zeros);
        while zeros > 0 {
            let count = zeros.min(LONGEST_BLOCK);
            self.header(REPEATED, count);
            self.frame.push(0);
            zeros -= count;
        }
    }

    fn header(&mut self, kind: u32, len: usize) {
        self.last = self.frame.len();
        // At most 128 KiB, so it fits into 21 bits.
        let [a, b, c, _] = ((len as u32) << 3 | kind << 1).to_le_bytes();
        self.frame.extend([a, b, c]);
    }
}
