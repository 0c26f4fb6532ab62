//! Checksums of a segment: a value in its footer covers every byte of the file.
//!
//! The value is `rocecrc1 FOOTER REST CHUNK CHUNK …`, each a CRC-32 in hexadecimal digits. A `CHUNK` covers one column
//! of one row group, in the order of the footer, so a reader checks only the columns that it reads. `FOOTER` covers the
//! footer with its length and the last magic bytes, with zeros in place of its own digits. `REST` covers what remains:
//! the first magic bytes, and the page indexes between the last column and the footer.

use crc32fast::Hasher;
use parquet::file::metadata::RowGroupMetaData;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Start of the value.
const MARK: &[u8] = b"rocecrc1 ";
/// The key of the value, which damage may hide.
const KEY: &[u8] = rocescope_model::footer::CHECKSUMS.as_bytes();
/// Digits of a checksum.
const DIGITS: usize = 8;
/// Length of the footer and magic bytes, at the end of a file.
const TAIL: u64 = 8;
/// The magic bytes at both ends of a file.
const MAGIC: &[u8; 4] = b"PAR1";
const BUFFER: usize = 256 << 10;

/// The checksums of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checksums {
    rest: u32,
    chunks: Vec<u32>,
}

/// What the footer of a file states about its checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The footer is whole.
    Whole(Checksums),
    /// The footer does not match its checksum.
    Damaged,
    /// Written by a version without checksums, or not a Parquet file.
    None,
}

/// Returns the value for a file whose row groups are written: its first two checksums are zeros until [`complete`].
pub(crate) fn value(file: &File, groups: &[RowGroupMetaData]) -> io::Result<String> {
    let mut value = String::from_utf8_lossy(MARK).into_owned();
    value.push_str("00000000 00000000");
    for range in chunks(groups) {
        value.push_str(&format!(" {:08x}", crc(file, range)?));
    }
    Ok(value)
}

/// Writes the first two checksums into a file that is complete otherwise.
pub(crate) fn complete(file: &File, groups: &[RowGroupMetaData]) -> io::Result<()> {
    let (start, mut footer) = footer(file)?.ok_or(io::ErrorKind::InvalidData)?;
    let at = position(&footer).ok_or(io::ErrorKind::InvalidData)?;
    let rest = format!("{:08x}", rest(file, groups, start)?);
    let own = at + DIGITS + 1..at + 2 * DIGITS + 1;
    let place = footer.get_mut(own).ok_or(io::ErrorKind::InvalidData)?;
    place.copy_from_slice(rest.as_bytes());
    let whole = format!("{:08x} {rest}", crc32fast::hash(&footer));
    file.write_all_at(whole.as_bytes(), start + at as u64)
}

/// Reads the checksums of a file, and checks its footer.
pub(crate) fn read(file: &File) -> io::Result<Found> {
    let Some((_, mut footer)) = footer(file)? else {
        return Ok(Found::None);
    };
    let Some(at) = position(&footer) else {
        let is_hidden = footer.windows(KEY.len()).any(|bytes| bytes == KEY);
        return Ok(if is_hidden { Found::Damaged } else { Found::None });
    };
    let digits = footer.get(at..).unwrap_or_default();
    let len = digits
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b' '));
    let text = String::from_utf8_lossy(&digits[..len.count()]).into_owned();
    let sums: Option<Vec<u32>> = text.split(' ').map(|word| u32::from_str_radix(word, 16).ok()).collect();
    let Some(([own, rest], chunks)) = sums.as_deref().and_then(|sums| sums.split_first_chunk()) else {
        return Ok(Found::Damaged);
    };
    let Some(place) = footer.get_mut(at..at + DIGITS) else {
        return Ok(Found::Damaged);
    };
    place.fill(b'0');
    if crc32fast::hash(&footer) != *own {
        return Ok(Found::Damaged);
    }
    Ok(Found::Whole(Checksums {
        rest: *rest,
        chunks: chunks.to_vec(),
    }))
}

impl Checksums {
    /// Whether a column chunk, counted through all row groups, is as it was written.
    pub(crate) fn is_chunk_whole(&self, file: &File, groups: &[RowGroupMetaData], chunk: usize) -> io::Result<bool> {
        let Some((sum, range)) = self.chunks.get(chunk).zip(chunks(groups).nth(chunk)) else {
            return Ok(false);
        };
        Ok(crc(file, range)? == *sum)
    }

    /// Whether the bytes outside of the columns and the footer are as they were written.
    pub(crate) fn is_rest_whole(&self, file: &File, groups: &[RowGroupMetaData]) -> io::Result<bool> {
        match footer(file)? {
            Some((start, _)) => Ok(rest(file, groups, start)? == self.rest),
            None => Ok(false),
        }
    }
}

fn chunks(groups: &[RowGroupMetaData]) -> impl Iterator<Item = Range<u64>> {
    let columns = groups.iter().flat_map(RowGroupMetaData::columns);
    columns.map(|column| {
        let (start, len) = column.byte_range();
        start..start.saturating_add(len)
    })
}

/// Returns the position of the first digit in a footer.
fn position(footer: &[u8]) -> Option<usize> {
    let at = footer.windows(MARK.len()).position(|bytes| bytes == MARK)?;
    Some(at + MARK.len())
}

/// Returns the footer, with its length and the magic bytes, and its position.
fn footer(file: &File) -> io::Result<Option<(u64, Vec<u8>)>> {
    let len = file.metadata()?.len();
    let Some(tail) = len.checked_sub(TAIL) else {
        return Ok(None);
    };
    let mut bytes = [0; TAIL as usize];
    file.read_exact_at(&mut bytes, tail)?;
    let [a, b, c, d, magic @ ..] = bytes;
    let start = tail.checked_sub(u32::from_le_bytes([a, b, c, d]).into());
    let Some(start) = start.filter(|_| magic == *MAGIC) else {
        return Ok(None);
    };
    let mut footer = vec![0; usize::try_from(len - start).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut footer, start)?;
    Ok(Some((start, footer)))
}

fn rest(file: &File, groups: &[RowGroupMetaData], footer: u64) -> io::Result<u32> {
    let magic = MAGIC.len() as u64;
    let end = chunks(groups).map(|range| range.end).max().unwrap_or(magic);
    let mut hasher = Hasher::new();
    update(&mut hasher, file, 0..magic)?;
    update(&mut hasher, file, end..footer)?;
    Ok(hasher.finalize())
}

fn crc(file: &File, range: Range<u64>) -> io::Result<u32> {
    let mut hasher = Hasher::new();
    update(&mut hasher, file, range)?;
    Ok(hasher.finalize())
}

fn update(hasher: &mut Hasher, file: &File, mut range: Range<u64>) -> io::Result<()> {
    let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(BUFFER);
    let mut buffer = vec![0; len.min(BUFFER)];
    while range.start < range.end {
        let left = usize::try_from(range.end - range.start).unwrap_or(BUFFER);
        let part = &mut buffer[..left.min(BUFFER)];
        file.read_exact_at(part, range.start)?;
        hasher.update(part);
        range.start += part.len() as u64;
    }
    Ok(())
}
