//! Reads a capture file, plain or compressed, with the product's reader.

use rocescope_capture::file::{FrameReader, Input};
use std::io::{self, Cursor, Read};

/// A limit, because a few kilobytes of gzip may expand to gigabytes.
const MAX_BYTES: u64 = 4 << 20;
/// Chunk size of slow input; a prime, so that records are cut everywhere.
const TRICKLE: usize = 13;

/// Input: the file.
pub fn run(input: &[u8]) {
    let at_once = read(Cursor::new(input.to_vec()));
    // Reading a compressed file in small chunks gives the same result, but takes long.
    if !matches!(input, [0x1f, 0x8b, ..] | [_, 0x2a, 0x4d, 0x18, ..]) && !is_zstd(input) {
        let trickled = read(Trickle(Cursor::new(input.to_vec())));
        assert_eq!(at_once, trickled, "a pipe and a file differ");
    }
}

fn is_zstd(input: &[u8]) -> bool {
    input.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Frames, their bytes, the sum of their times, and the result at the end.
type Account = (u64, u64, u64, String);

fn read(stream: impl Read + Send + 'static) -> Account {
    let (mut frames, mut bytes, mut times) = (0, 0, 0u64);
    let ended = |frames, bytes, times, how: &dyn ToString| (frames, bytes, times, how.to_string());
    let input = match Input::new(Box::new(stream)) {
        Ok(input) => input,
        Err(error) => return ended(frames, bytes, times, &error),
    };
    let mut reader = match FrameReader::new(input.take(MAX_BYTES)) {
        Ok(reader) => reader,
        Err(error) => return ended(frames, bytes, times, &error),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                assert_eq!(frame.bytes.len(), frame.lengths.captured as usize);
                assert!(frame.lengths.original >= frame.lengths.captured);
                assert!(i64::try_from(frame.time_ns).is_ok());
                frames += 1;
                bytes += frame.bytes.len() as u64;
                times = times.wrapping_add(frame.time_ns);
                assert!(bytes <= reader.consumed_bytes() && bytes <= MAX_BYTES);
            }
            Ok(None) => return ended(frames, bytes, times, &"end"),
            Err(error) => return ended(frames, bytes, times, &error),
        }
    }
}

struct Trickle<R>(R);

impl<R: Read> Read for Trickle<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = buf.len().min(TRICKLE);
        self.0.read(&mut buf[..count])
    }
}
