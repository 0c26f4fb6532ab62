//! Reads a stream on a thread of its own, a few buffers ahead of the one that is parsed.
//!
//! The kernel copies a file, or a decompressor produces it, while the frames before are analyzed on another core.
//! Buffers go back and forth: nothing is allocated while reading, and the thread waits when all of them are full.

use super::buffer::CAPACITY;
use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;

/// Buffers in circulation, beside the one that is parsed: 1.25 MiB.
const BUFFERS: usize = 4;
/// Bytes before those that were read: room for the start of a record that ends in them.
pub(super) const HEADROOM: usize = 64 * 1024;

/// The parsing end.
pub(super) struct ReadAhead {
    full: Receiver<io::Result<Filled>>,
    empty: Sender<Vec<u8>>,
}

/// A buffer with bytes from [`HEADROOM`] to `end`.
pub(super) struct Filled {
    pub(super) bytes: Vec<u8>,
    pub(super) end: usize,
}

/// A buffer without content.
fn buffer() -> Vec<u8> {
    vec![0; HEADROOM + CAPACITY]
}

impl ReadAhead {
    /// Starts to read.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(input: impl Read + Send + 'static) -> io::Result<Self> {
        let (filled, full) = sync_channel(BUFFERS);
        let (empty, to_fill) = channel();
        for _ in 0..BUFFERS {
            // Both ends are here.
            let _ = empty.send(buffer());
        }
        Builder::new()
            .name("read".into())
            .spawn(move || fill(input, &to_fill, &filled))?;
        Ok(Self { full, empty })
    }

    /// The next bytes; `None` at the end. Waits for them.
    pub(super) fn next(&self) -> io::Result<Option<Filled>> {
        // The thread is gone after the end, and after an error.
        self.full.recv().ok().transpose()
    }

    /// Returns a buffer to the thread.
    pub(super) fn reuse(&self, bytes: Vec<u8>) {
        // A buffer that had to grow for one record would keep its memory.
        let bytes = if bytes.len() == HEADROOM + CAPACITY {
            bytes
        } else {
            buffer()
        };
        // At the end no one needs it.
        let _ = self.empty.send(bytes);
    }
}

fn fill(mut input: impl Read, to_fill: &Receiver<Vec<u8>>, filled: &SyncSender<io::Result<Filled>>) {
    for mut bytes in to_fill {
        let read = loop {
            let space = bytes.get_mut(HEADROOM..).unwrap_or_default();
            match input.read(space) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let (chunk, ends) = match read {
            Ok(0) => return,
            Ok(count) => {
                let end = HEADROOM + count;
                (Ok(Filled { bytes, end }), false)
            }
            Err(error) => (Err(error), true),
        };
        if filled.send(chunk).is_err() || ends {
            return;
        }
    }
}
