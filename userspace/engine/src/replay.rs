//! Captures of files and pipes: feeds every frame of a reader to a session.

use crate::error::Result;
use crate::session::Session;
use crate::signals::Signals;
use rocescope_capture::file::{self, FrameReader, Input};
use std::io::Read;
use std::path::Path;

/// Frames between two checks of the signals: about a millisecond.
const STRIDE: u32 = 4_096;

/// Opens a capture file; `-` is standard input, which ends at a signal.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path, signals: &Signals) -> Result<Input> {
    Ok(if path == Path::new("-") {
        Input::new(Box::new(signals.stdin()?))?
    } else {
        file::open(path)?
    })
}

/// Feeds every frame of `reader` to the session until a signal. `progress` receives the bytes read so far.
///
/// # Errors
/// Those of the reader, and of [`Session::frame`].
pub fn replay<R: Read>(
    reader: &mut FrameReader<R>,
    session: &mut Session,
    signals: &Signals,
    progress: impl Fn(u64),
) -> Result<()> {
    while !signals.ended() {
        for _ in 0..STRIDE {
            match reader.next_frame() {
                Ok(Some(frame)) => session.frame(&frame)?,
                Ok(None) => return Ok(()),
                // The signal ended the input here.
                Err(_) if signals.ended() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        progress(reader.consumed_bytes());
    }
    Ok(())
}
