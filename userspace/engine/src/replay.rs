//! Captures of files and pipes: feeds every frame of a reader to a session.

use crate::error::{EngineError, Result};
use crate::session::Session;
use rocescope_capture::file::{FileError, FrameFiles, FrameSource, Input};
use rocescope_model::human::plural;
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
        Ok(stdin) => Ok(Input::new(Box::new(stdin))?),
        Err(error) => Err(FileError::Io(io::Error::other(error))),
    };
    Ok(FrameFiles::open(paths, stdin)?)
}

/// Feeds every frame of `reader` to the session until a signal. `progress` receives the bytes read so far. An input that
/// ends early is stated in the outcome and in the rows.
///
/// # Errors
/// Those of the reader, and of [`Session::frame`]; [`EngineError::NoFrames`] if there is none.
pub fn replay(
    reader: &mut impl FrameSource,
    session: &mut Session,
    signals: &Signals,
    progress: impl Fn(u64),
) -> Result<()> {
    let ended = feed(reader, session, signals, progress);
    let read = session.counters().frames;
    match &ended {
        Err(EngineError::File(error)) => session.end_early(format!("damaged: {error}"), None),
        Ok(End::Input) if read == 0 => return Err(EngineError::NoFrames(reader.name())),
        Ok(End::Signal) if !reader.is_pipe() => {
            let share = reader
                .length()
                .map(|all| reader.consumed_bytes() as f64 / all.max(1) as f64);
            let of = share.map_or_else(String::new, |share| format!(", {:.0} % of the input", 100.0 * share));
            session.end_early(format!("interrupted: {}{of}", frames(read)), share);
        }
        _ => {}
    }
    ended.map(|_| ())
}

fn frames(read: u64) -> String {
    format!("{} read", plural(read, "frame"))
}

/// What ended the frames.
enum End {
    Input,
    Signal,
}

fn feed(
    reader: &mut impl FrameSource,
    session: &mut Session,
    signals: &Signals,
    progress: impl Fn(u64),
) -> Result<End> {
    while !signals.ended() {
        for _ in 0..STRIDE {
            match reader.next_frame() {
                Ok(Some(frame)) => {
                    session.frame(&frame)?;
                    if session.is_over() {
                        return Ok(End::Input);
                    }
                }
                Ok(None) => return Ok(End::Input),
                // The signal ended the input here.
                Err(_) if signals.ended() => return Ok(End::Signal),
                Err(error) => return Err(error.into()),
            }
        }
        progress(reader.consumed_bytes());
    }
    Ok(End::Signal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_capture::file::Frame;
    use rocescope_model::EventRow;
    use rocescope_pipeline::Settings;
    use rocescope_record::Config;
    use rocescope_runtime::dataset::Dataset;
    use rocescope_runtime::signals::Ender;
    use rocescope_wire::FrameLengths;
    use std::cell::RefCell;
    use std::ops::ControlFlow;
    use std::rc::Rc;

    /// Bytes of each frame.
    const BYTES: u64 = 10;

    /// Frames of no known kind, a millisecond apart; the user ends the input while the first is read.
    struct Interrupted {
        read: u64,
        all: u64,
        is_pipe: bool,
        user: Ender,
    }

    impl FrameSource for Interrupted {
        fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FileError> {
            if self.read == self.all {
                return Ok(None);
            }
            self.read += 1;
            if self.read == 1 {
                self.user.end();
            }
            Ok(Some(Frame {
                bytes: &[],
                link: None,
                lengths: FrameLengths::whole(0),
                time_ns: self.read * 1_000_000,
                interface: 0,
            }))
        }

        fn consumed_bytes(&self) -> u64 {
            self.read * BYTES
        }

        fn name(&self) -> String {
            "frames".into()
        }

        fn length(&self) -> Option<u64> {
            (!self.is_pipe).then_some(self.all * BYTES)
        }

        fn is_pipe(&self) -> bool {
            self.is_pipe
        }
    }

    /// What the outcome and the rows say of an input of `all` frames.
    fn ended_early(all: u64, is_pipe: bool) -> (Option<String>, Vec<EventRow>) {
        let signals = Signals::install().unwrap();
        let user = signals.ender();
        let mut source = Interrupted {
            read: 0,
            all,
            is_pipe,
            user,
        };
        let mut session = Session::new(
            Settings::default(),
            Config::exact(Settings::default().window_ns),
            None::<Dataset>,
        )
        .unwrap();
        let events = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&events);
        session.tap(Box::new(move |rows| {
            seen.borrow_mut().extend_from_slice(&rows.events);
            ControlFlow::Continue(())
        }));
        replay(&mut source, &mut session, &signals, |_| {}).unwrap();
        let outcome = session.finish().unwrap();
        let rows = events.borrow().clone();
        (outcome.ended_early, rows)
    }

    #[test]
    fn an_interrupted_file_is_stated_and_a_pipe_ends_when_its_user_wants() {
        let stride = u64::from(STRIDE);
        let (why, rows) = ended_early(4 * stride, false);
        let said = "interrupted: 4,096 frames read, 25 % of the input";
        assert_eq!(why.as_deref(), Some(said));
        let [event] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(
            (&*event.kind, event.value, &*event.detail),
            (EventRow::INPUT_ENDED, Some(0.25), said)
        );
        assert_eq!(event.time_ns, i64::from(STRIDE) * 1_000_000);
        assert_eq!(ended_early(4 * stride, true), (None, Vec::new()));
        // All of it was read before the signal was seen.
        assert_eq!(ended_early(stride - 1, false), (None, Vec::new()));
    }
}
