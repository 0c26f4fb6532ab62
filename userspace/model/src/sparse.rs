//! Bytes of which most are zero: a sketch of half a megabyte with four flows in it is 16 counters.

use alloc::vec::Vec;
use core::fmt;

/// The number of zeros that end a piece. Fewer cost less inside a piece than between two.
const GAP: usize = 8;
/// The longest value that packed bytes may claim, so that damaged ones do not request more memory than this: 256 MiB.
const LONGEST: usize = 1 << 28;

/// The bytes of a sketch, kept as the pieces that are not zero.
///
/// Equal bytes have equal pieces, however they were built.
///
/// ```
/// use rocescope_model::SparseBytes;
///
/// let mut bytes = vec![0; 1_000];
/// bytes[500] = 7;
/// let sparse = SparseBytes::from(bytes.as_slice());
/// assert_eq!(sparse.pieces().collect::<Vec<_>>(), [(500, &[7][..])]);
/// assert_eq!((sparse.len(), sparse.to_vec()), (1_000, bytes));
/// assert!(sparse.packed().len() < 8);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SparseBytes {
    /// The length, then for each piece the zeros before it, its length and its bytes. Numbers are LEB128.
    packed: Vec<u8>,
    len: usize,
    /// Where the pieces begin in `packed`.
    at: usize,
}

impl SparseBytes {
    /// Begins a value of `len` bytes.
    #[must_use]
    pub fn builder(len: usize) -> SparseBuilder {
        let mut packed = Vec::new();
        put(&mut packed, len);
        SparseBuilder {
            at: packed.len(),
            packed,
            len,
            end: 0,
            piece: Vec::new(),
            start: 0,
        }
    }

    /// The length of the value in bytes, zeros included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the value has no bytes, not even zeros.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces that are not zero, in order: offset and bytes.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut rest = self.packed.get(self.at..).unwrap_or_default();
        let mut offset = 0;
        core::iter::from_fn(move || {
            let (start, piece, after) = next_piece(rest, offset)?;
            (rest, offset) = (after, start + piece.len());
            Some((start, piece))
        })
    }

    /// The value as one slice of packed bytes, for [`from_packed`](Self::from_packed).
    #[must_use]
    pub fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// Reads what [`packed`](Self::packed) returned; `None` if the bytes are something else.
    #[must_use]
    pub fn from_packed(packed: &[u8]) -> Option<Self> {
        let (len, mut rest) = take(packed).filter(|(len, _)| *len <= LONGEST)?;
        let at = packed.len() - rest.len();
        let mut offset = 0;
        while !rest.is_empty() {
            let (start, piece, after) = next_piece(rest, offset)?;
            (rest, offset) = (after, start.checked_add(piece.len())?);
            if piece.is_empty() || offset > len {
                return None;
            }
        }
        Some(Self {
            packed: packed.to_vec(),
            len,
            at,
        })
    }

    /// The length of the value that these [`packed`](Self::packed) bytes claim to hold.
    #[must_use]
    pub fn packed_len(packed: &[u8]) -> Option<usize> {
        take(packed).map(|(len, _)| len)
    }

    /// The whole value.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = alloc::vec![0; self.len];
        for (offset, piece) in self.pieces() {
            if let Some(place) = bytes.get_mut(offset..offset + piece.len()) {
                place.copy_from_slice(piece);
            }
        }
        bytes
    }
}

impl From<&[u8]> for SparseBytes {
    fn from(bytes: &[u8]) -> Self {
        let mut builder = Self::builder(bytes.len());
        builder.put(0, bytes);
        builder.finish()
    }
}

impl From<Vec<u8>> for SparseBytes {
    fn from(bytes: Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

impl fmt::Debug for SparseBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseBytes")
            .field("len", &self.len)
            .field("packed", &self.packed.len())
            .finish()
    }
}

/// Builds a [`SparseBytes`] from its parts, in ascending order.
#[derive(Debug)]
pub struct SparseBuilder {
    packed: Vec<u8>,
    at: usize,
    len: usize,
    /// The end of the last piece in `packed`.
    end: usize,
    /// The piece that may still grow; it ends with a byte that is not zero.
    piece: Vec<u8>,
    start: usize,
}

impl SparseBuilder {
    /// Sets the bytes at `offset`; the bytes between this part and the one before are zero. Ignores what is beyond
    /// the length or before the end of an earlier part.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        let room = self.len.saturating_sub(offset);
        let bytes = bytes.get(..bytes.len().min(room)).unwrap_or_default();
        let mut at = 0;
        while let Some(first) = skip_zeros(bytes, at) {
            let end = end_of_piece(bytes, first);
            self.add(offset + first, bytes.get(first..end).unwrap_or_default());
            at = end;
        }
    }

    /// Adds a part that begins and ends with a byte that is not zero.
    fn add(&mut self, offset: usize, part: &[u8]) {
        let end = self.start + self.piece.len();
        if offset < end {
            return;
        }
        if !self.piece.is_empty() && offset - end < GAP {
            self.piece.resize(offset - self.start, 0);
        } else {
            self.flush();
            self.start = offset;
        }
        self.piece.extend_from_slice(part);
    }

    fn flush(&mut self) {
        if !self.piece.is_empty() {
            put(&mut self.packed, self.start - self.end);
            put(&mut self.packed, self.piece.len());
            self.packed.extend_from_slice(&self.piece);
            self.end = self.start + self.piece.len();
            self.piece.clear();
        }
    }

    /// Ends the value: the rest is zero.
    #[must_use]
    pub fn finish(mut self) -> SparseBytes {
        self.flush();
        SparseBytes {
            packed: self.packed,
            len: self.len,
            at: self.at,
        }
    }
}

/// The position of the first byte from `at` on that is not zero.
fn skip_zeros(bytes: &[u8], mut at: usize) -> Option<usize> {
    // Sketches are long and mostly zero: whole cache lines first.
    while let Some(line) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
        if line.iter().fold(0, |any, byte| any | byte) != 0 {
            break;
        }
        at += line.len();
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|&byte| byte != 0).map(|found| at + found)
}

/// The end of the piece that begins at `first`: the next [`GAP`] bytes are zero, or the value ends.
fn end_of_piece(bytes: &[u8], first: usize) -> usize {
    let mut end = first + 1;
    let mut zeros = 0;
    for (at, &byte) in bytes.iter().enumerate().skip(end) {
        if byte != 0 {
            (end, zeros) = (at + 1, 0);
        } else {
            zeros += 1;
            if zeros == GAP {
                break;
            }
        }
    }
    end
}

/// The piece at the front of `rest`, which begins at `offset` or later: its offset, its bytes, and what follows.
fn next_piece(rest: &[u8], offset: usize) -> Option<(usize, &[u8], &[u8])> {
    let (zeros, rest) = take(rest)?;
    let (len, rest) = take(rest)?;
    let (piece, rest) = rest.split_at_checked(len)?;
    Some((offset.checked_add(zeros)?, piece, rest))
}

/// Appends a number.
fn put(packed: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

/// Takes a number of at most 35 bits from the front.
fn take(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0u64;
    for (at, &byte) in bytes.iter().take(5).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(number).ok()?, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{GAP, SparseBytes};
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn an_empty_table_is_its_length() {
        let table = SparseBytes::from(vec![0; 524_288]);
        assert_eq!(table.packed().len(), 3);
        assert_eq!(table.pieces().count(), 0);
        assert_eq!(table.to_vec(), vec![0; 524_288]);
        assert!(SparseBytes::from(vec![]).is_empty());
    }

    #[test]
    fn wrong_pieces_are_refused() {
        let packed = |bytes: &[u8]| SparseBytes::from_packed(bytes).is_some();
        assert!(packed(&[4, 1, 1, 9]));
        // Nothing, a piece beyond the end, one that is cut short, an empty one, a number that does not end,
        // a length of four gigabytes.
        for bytes in [
            &[][..],
            &[4, 4, 1, 9],
            &[4, 1, 2, 9],
            &[4, 1, 0],
            &[0xff; 9],
            &[0xff, 0xff, 0xff, 0xff, 1],
        ] {
            assert!(!packed(bytes), "{bytes:?}");
        }
    }

    proptest! {
        /// Whole, in parts and packed: the same pieces, and the same bytes come back.
        #[test]
        fn bytes_come_back(
            runs in prop::collection::vec((0usize..3 * GAP, prop::collection::vec(any::<u8>(), 0..20)), 0..20),
            cut in 1usize..64,
        ) {
            let mut bytes = Vec::new();
            for (zeros, literal) in runs {
                bytes.resize(bytes.len() + zeros, 0);
                bytes.extend(literal);
            }
            let whole = SparseBytes::from(bytes.as_slice());
            prop_assert_eq!(&whole.to_vec(), &bytes);
            let mut parts = SparseBytes::builder(bytes.len());
            for (number, part) in bytes.chunks(cut).enumerate() {
                parts.put(number * cut, part);
            }
            let parts = parts.finish();
            prop_assert_eq!(&SparseBytes::from_packed(whole.packed()), &Some(whole.clone()));
            prop_assert_eq!(parts, whole);
        }

        /// Any bytes are refused or are a value that packs to the same bytes.
        #[test]
        fn hostile_bytes_do_no_harm(packed in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(read) = SparseBytes::from_packed(&packed) {
                prop_assert_eq!(read.packed(), &packed[..]);
                prop_assert!(read.pieces().all(|(offset, piece)| offset + piece.len() <= read.len()));
            }
        }
    }
}
