//! Captures of files and pipes: feeds every frame of a reader to a session.

use crate::error::Result;
use crate::session::Session;
use rocescope_capture::file::{FileError, FrameFiles, FrameSource, Input};
use rocescope_runtime::signals::Signals;
use std::io;
use std::path::PathBuf;

/// Frames between two checks of the signals: about a millisecond.
const STRIDE: u32 = 4_096;

/// Opens capture files and directories of them; `-` is standard input, which ends at a signal.
///
/// # Errors
/// Those of [`FrameFiles::open`].
pub fn open(paths: &[PathBuf], signals: &Signals) -> Result<FrameFiles> {
    let stdin = || match signals.stdin() {
        Ok(stdin) => Input::new(Box::new(stdin)),
        Err(error) => Err(FileError::Io(io::Error::other(error))),
    };
    Ok(FrameFiles::open(paths, stdin)?)
}

/// Feeds every frame of `reader` to the session until a signal. `progress` receives the bytes read so far.
///
/// # Errors
/// Those of the reader, and of [`Session::frame`].
pub fn replay(
    reader: &mut impl FrameSource,
    session: &mut Session,
    signals: &Signals,
    progress: impl Fn(u64),
) -> Result<()> {
    while !signals.ended() {
        for _ in 0..STRIDE {
            match reader.next_frame() {
                Ok(Some(frame)) => {
                    session.frame(&frame)?;
                    if session.is_over() {
                        return Ok(());
                    }
                }
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
