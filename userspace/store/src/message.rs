//! Messages of an Arrow IPC stream, with checksums.
//!
//! A message is a prefix (`ff ff ff ff` and the length of the header), a header (a flatbuffer with padding) and a body.
//! [`protect_first`] lengthens the padding by 16 bytes: a mark, the CRC-32 of the body, and the CRC-32 of everything
//! before it in prefix and header. Arrow readers skip padding, so the stream stays plain Arrow IPC.

use arrow_ipc::root_as_message;
use crc32fast::Hasher;
use std::io;

/// The first bytes of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Length of a prefix.
pub(crate) const PREFIX: usize = 8;
/// Precedes the checksums. Eight bytes, so that headers keep the alignment that Arrow requires.
const MARK: [u8; 8] = *b"rocecrc1";
/// Length of mark and checksums.
const TRAILER: usize = MARK.len() + 8;

/// A message with all of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) header: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// What the checksums of a message show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    /// Every byte is as it was written.
    Whole,
    /// A byte has changed.
    Damaged,
    /// Written by a version without checksums.
    Unknown,
}

/// Why there is no message at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoMessage {
    /// The stream ends before the message does.
    Truncated,
    /// The bytes are not a message.
    Invalid,
}

/// Returns the length of the header that a prefix announces.
pub(crate) fn header_len(prefix: [u8; PREFIX]) -> Option<usize> {
    let (continuation, len) = prefix.split_at(CONTINUATION.len());
    let len = <[u8; 4]>::try_from(len).map(u32::from_le_bytes).ok()?;
    // A message without a header ends a stream.
    let len = usize::try_from(len).ok().filter(|len| *len > 0);
    len.filter(|_| continuation == CONTINUATION)
}

/// Returns the length of the body that a header announces.
pub(crate) fn body_len(header: &[u8]) -> Option<usize> {
    let message = root_as_message(header).ok()?;
    usize::try_from(message.bodyLength()).ok()
}

/// Returns the prefix of a header.
pub(crate) fn prefix(header: &[u8]) -> Option<[u8; PREFIX]> {
    let len = i32::try_from(header.len()).ok()?;
    let mut bytes = [0xff; PREFIX];
    bytes[CONTINUATION.len()..].copy_from_slice(&len.to_le_bytes());
    Some(bytes)
}

impl<'a> Message<'a> {
    /// Splits the first message off a stream.
    pub(crate) fn split(stream: &'a [u8]) -> Result<(Self, &'a [u8]), NoMessage> {
        let (prefix, rest) = stream.split_first_chunk().ok_or(NoMessage::Truncated)?;
        let len = header_len(*prefix).ok_or(NoMessage::Invalid)?;
        let (header, rest) = rest.split_at_checked(len).ok_or(NoMessage::Truncated)?;
        let len = body_len(header).ok_or(NoMessage::Invalid)?;
        let (body, rest) = rest.split_at_checked(len).ok_or(NoMessage::Truncated)?;
        Ok((Self { header, body }, rest))
    }

    /// Compares the message with its checksums.
    pub(crate) fn check(&self) -> Checked {
        let Some((trailer, header)) = head(self.header) else {
            return Checked::Unknown;
        };
        let is_whole = header && crc(&[self.body]) == trailer;
        if is_whole { Checked::Whole } else { Checked::Damaged }
    }
}

/// Returns prefix and header of a message with checksums; its body follows. `None` if the header is too long.
fn protect(message: &Message<'_>) -> Option<Vec<u8>> {
    let len = message.header.len() + TRAILER;
    let mut bytes = Vec::with_capacity(PREFIX + len);
    bytes.extend_from_slice(&CONTINUATION);
    bytes.extend_from_slice(&i32::try_from(len).ok()?.to_le_bytes());
    bytes.extend_from_slice(message.header);
    bytes.extend_from_slice(&MARK);
    bytes.extend_from_slice(&crc(&[message.body]).to_le_bytes());
    bytes.extend_from_slice(&crc(&[&bytes]).to_le_bytes());
    Some(bytes)
}

/// Returns a whole stream with checksums.
pub(crate) fn protect_all(mut stream: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(stream.len() + 2 * TRAILER);
    while !stream.is_empty() {
        let (head, body, rest) = protect_first(stream)?;
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(body);
        stream = rest;
    }
    Ok(bytes)
}

/// Returns prefix and header of the first message of a stream with checksums, its body, and the rest of the stream.
pub(crate) fn protect_first(stream: &[u8]) -> io::Result<(Vec<u8>, &[u8], &[u8])> {
    let split = Message::split(stream).ok();
    let protected = split.and_then(|(message, rest)| Some((protect(&message)?, message.body, rest)));
    protected.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Whether a header has a checksum and matches it.
pub(crate) fn is_whole_header(header: &[u8]) -> bool {
    head(header).is_some_and(|(_, whole)| whole)
}

/// Returns the checksum of the body, and whether the header is whole; `None` without checksums.
fn head(header: &[u8]) -> Option<(u32, bool)> {
    let (covered, own) = header.split_last_chunk()?;
    let (before, body) = covered.split_last_chunk()?;
    if !before.ends_with(&MARK) {
        return None;
    }
    let is_whole = crc(&[&prefix(header)?, covered]) == u32::from_le_bytes(*own);
    Some((u32::from_le_bytes(*body), is_whole))
}

/// Whether these bytes contain the checksums of some message.
pub(crate) fn has_mark(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK)
}

/// Returns the position of the first message that its checksums prove whole.
pub(crate) fn find_whole(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|&at| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.starts_with(&CONTINUATION)
            && Message::split(rest).is_ok_and(|(message, _)| message.check() == Checked::Whole)
    })
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}
