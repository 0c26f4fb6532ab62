//! The drawing loop: draws at most [`Stage::fps`] times a second, and at once after a key.

use crate::control::Control;
use crate::screen::{self, Input, Screen};
use crate::{Effect, Losses, Motion, ProcessUsage, View};
use rocescope_diagnose::owners::Owners;
use rocescope_model::{HostPortRow, IncidentRow, LoopbackRow, MeshRows, Time, WindowRows};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How often the loop checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of messages between two paints of the screen.
const BATCH: usize = 256;

/// What is drawn, and how often.
#[derive(Debug)]
pub struct Stage {
    /// The state that is drawn.
    pub view: View,
    /// Maximum paints of the screen per second.
    pub fps: u8,
    /// Whether the mouse selects too.
    pub mouse: bool,
}

/// Why something around the view failed.
pub type ProcessError = Box<dyn std::error::Error + Send + Sync>;

/// The process around the view, as the drawing thread uses it. An error ends the drawing.
pub trait Process: Send {
    /// Called when the drawing thread has started, before it enters the terminal.
    fn begin(&mut self) -> Result<(), ProcessError>;

    /// Whether something ended the source.
    fn is_ended(&self) -> bool;

    /// Ends the source; from now on a signal ends the process at once.
    fn end(&self) -> Result<(), ProcessError>;

    /// Whether a signal requested a stop since the last call.
    fn take_stop(&self) -> bool;

    /// Whether the process was continued since the last call.
    fn take_continue(&self) -> bool;

    /// Stops the process; returns when it is continued.
    fn suspend(&self) -> Result<(), ProcessError>;

    /// What the process used since the last result, about once a second.
    fn usage(&mut self) -> Option<ProcessUsage>;

    /// The time now, for the age of the data.
    fn now(&self) -> Time;

    /// Sets the losses that the windows do not contain.
    fn losses(&self, losses: &mut Losses);
}

/// Why drawing ended early.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// The terminal is gone, or is not a terminal.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// A thread cannot start.
    #[error("cannot start a thread of the view")]
    Thread(#[source] io::Error),
    /// The drawing thread panicked.
    #[error("the view panicked")]
    Panicked,
    /// The process around the view failed.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// Messages to the drawing thread.
pub(crate) enum Message {
    /// A window has finished.
    Window(Box<WindowRows>),
    /// The source moved: replaces all windows.
    Replace(Vec<WindowRows>),
    /// The probe mesh from now on.
    Mesh(Box<MeshRows>),
    /// The ports of hosts from now on.
    HostPorts(Vec<HostPortRow>),
    /// All incidents that are known.
    Incidents(Vec<IncidentRow>),
    /// The loopback tests inside hosts from now on.
    Loopback(Vec<LoopbackRow>),
    /// Whose queue pairs are, from now on.
    Owners(Arc<Owners>),
    /// A new motion.
    Motion(Motion),
    /// A line for the user.
    Note(String),
    /// A key, the mouse, a new size.
    Input(Input),
    /// The terminal is gone.
    Gone(io::Error),
}

/// The state of the drawing thread.
pub(crate) struct Show {
    pub(crate) stage: Stage,
    pub(crate) receiver: Receiver<Message>,
    pub(crate) inputs: SyncSender<Message>,
    pub(crate) control: Control,
    pub(crate) process: Box<dyn Process>,
    pub(crate) not_shown: Arc<AtomicU64>,
}

/// Ends the source, also when this thread panics.
struct EndsSource(Control, Box<dyn Process>);

impl Drop for EndsSource {
    fn drop(&mut self) {
        // If this fails, the source still ends, but later.
        let _ = self.1.end();
        self.0.stop();
    }
}

/// What to do with the terminal after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Continue,
    Repaint,
    Suspend,
    Quit,
}

impl Show {
    /// Draws until the user quits, or a signal ends the program.
    pub(crate) fn run(self) -> Result<(), ShowError> {
        let Self {
            mut stage,
            receiver,
            inputs,
            control,
            process,
            not_shown,
        } = self;
        let mut source = EndsSource(control.clone(), process);
        let process = &mut *source.1;
        process.begin()?;
        let mut screen = Screen::enter(stage.mouse).map_err(ShowError::Terminal)?;
        let (width, height) = screen.size().map_err(ShowError::Terminal)?;
        stage.view.resize(width, height);
        let reader = Reader::begin(inputs)?;
        let frame = Duration::from_secs(1) / u32::from(stage.fps);
        let (mut changed, mut due) = (true, Instant::now());
        let mut gone = false;
        loop {
            let now = Instant::now();
            let timeout = if changed {
                due.saturating_duration_since(now).min(POLL_INTERVAL)
            } else {
                POLL_INTERVAL
            };
            let first = if gone {
                std::thread::sleep(timeout);
                None
            } else {
                match receiver.recv_timeout(timeout) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => {
                        gone = true;
                        None
                    }
                }
            };
            let mut turn = Turn::Continue;
            for message in first.into_iter().chain(receiver.try_iter()).take(BATCH) {
                changed = true;
                if let Message::Input(_) = message {
                    due = Instant::now();
                }
                turn = handle(&mut stage.view, message, &control)?;
                if turn != Turn::Continue {
                    break;
                }
            }
            if process.is_ended() {
                turn = Turn::Quit;
            }
            if process.take_stop() {
                turn = Turn::Suspend;
            }
            let mut is_continued = process.take_continue();
            match turn {
                Turn::Quit => break,
                Turn::Suspend => {
                    screen.leave().map_err(ShowError::Terminal)?;
                    process.suspend()?;
                    is_continued = true;
                }
                Turn::Repaint => screen.forget().map_err(ShowError::Terminal)?,
                Turn::Continue => {}
            }
            if is_continued {
                screen.resume().map_err(ShowError::Terminal)?;
                let (width, height) = screen.size().map_err(ShowError::Terminal)?;
                stage.view.resize(width, height);
                (changed, due) = (true, Instant::now());
            }
            if let Some(own) = process.usage() {
                stage.view.own(own);
                let losses = &mut stage.view.header().losses;
                losses.windows_not_shown = not_shown.load(Ordering::Relaxed);
                process.losses(losses);
                if let Some(newest) = &mut stage.view.header().newest {
                    newest.now = process.now();
                }
                changed = true;
            }
            if changed && Instant::now() >= due {
                screen.draw(&stage.view).map_err(ShowError::Terminal)?;
                (changed, due) = (false, Instant::now() + frame);
            }
        }
        // The terminal first: the rest may take a while, and can be interrupted.
        screen.leave().map_err(ShowError::Terminal)?;
        process.end()?;
        drop(receiver);
        reader.end();
        Ok(())
    }
}

fn handle(view: &mut View, message: Message, control: &Control) -> Result<Turn, ShowError> {
    let mut effect = Effect::Nothing;
    match message {
        Message::Window(rows) => view.window(*rows),
        Message::Replace(windows) => view.replace(windows),
        Message::Mesh(rows) => view.mesh(*rows),
        Message::HostPorts(rows) => view.host_ports(rows),
        Message::Incidents(rows) => view.incidents(rows),
        Message::Loopback(rows) => view.loopback(rows),
        Message::Owners(owners) => view.owners(owners),
        Message::Motion(motion) => view.header().motion = motion,
        Message::Note(note) => view.note(note),
        Message::Gone(error) => return Err(ShowError::Terminal(error)),
        Message::Input(Input::Size(width, height)) => view.resize(width, height),
        Message::Input(Input::Key(key)) => effect = view.key(key),
        Message::Input(Input::Mouse(mouse)) => effect = view.mouse(mouse),
    }
    let motion = match effect {
        Effect::Nothing => return Ok(Turn::Continue),
        Effect::Quit => return Ok(Turn::Quit),
        Effect::Suspend => return Ok(Turn::Suspend),
        Effect::Redraw => return Ok(Turn::Repaint),
        Effect::Pause(paused) => control.pause(paused),
        Effect::Speed(speed) => control.speed(speed),
        Effect::Seek(seek) => control.seek(seek),
    };
    if view.header().motion != Motion::Ended {
        view.header().motion = motion;
    }
    Ok(Turn::Continue)
}

/// The thread that reads keys.
struct Reader {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn begin(inputs: SyncSender<Message>) -> Result<Self, ShowError> {
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let read = move || {
            while !end.load(Ordering::Relaxed) {
                let message = match screen::read(POLL_INTERVAL) {
                    Ok(None) => continue,
                    Ok(Some(input)) => Message::Input(input),
                    Err(error) => Message::Gone(error),
                };
                let over = matches!(message, Message::Gone(_));
                if inputs.send(message).is_err() || over {
                    return;
                }
            }
        };
        let thread = Builder::new().name("keys".into()).spawn(read);
        Ok(Self {
            ended,
            thread: thread.map_err(ShowError::Thread)?,
        })
    }

    fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        // Its result no longer matters.
        let _ = self.thread.join();
    }
}
