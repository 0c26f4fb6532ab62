//! The loop that draws: at most so many times a second, and at once after a key.

use super::control::Control;
use super::feed::Message;
use super::own::Meter;
use crate::drops::Drops;
use crate::signals::Ender;
use anyhow::{Context, Result};
use rocescope_host::privileges;
use rocescope_view::screen::{self, Input, Screen};
use rocescope_view::{Effect, Motion, View};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::{flag, low_level};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How long signals may wait to be seen.
const PATIENCE: Duration = Duration::from_millis(100);
/// Messages taken before the screen is painted again, however many there are.
const BATCH: usize = 256;

/// What is drawn, and how often.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) view: View,
    pub(super) fps: u8,
    pub(super) mouse: bool,
}

/// Everything the drawing thread needs.
pub(super) struct Show {
    pub(super) stage: Stage,
    pub(super) receiver: Receiver<Message>,
    pub(super) inputs: SyncSender<Message>,
    pub(super) control: Control,
    pub(super) ender: Ender,
    pub(super) drops: Option<Arc<Drops>>,
    pub(super) not_shown: Arc<AtomicU64>,
}

/// Ends the source, also when this thread panics.
struct EndsSource(Control, Ender);

impl Drop for EndsSource {
    fn drop(&mut self) {
        self.1.end();
        self.0.stop();
    }
}

/// What to do with the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    On,
    Paint,
    Sleep,
    Quit,
}

impl Show {
    /// Draws until the user leaves, or a signal ends the program.
    pub(super) fn run(self) -> Result<()> {
        let Self {
            mut stage,
            receiver,
            inputs,
            control,
            ender,
            drops,
            not_shown,
        } = self;
        let _ends = EndsSource(control.clone(), ender.clone());
        // Capabilities are a thread's own, and those of this one are not given up with the others.
        privileges::drop_all().context("capabilities")?;
        let (stopped, continued) = (flag_of(SIGTSTP)?, flag_of(SIGCONT)?);
        let mut screen = Screen::enter(stage.mouse).context("the terminal")?;
        let (width, height) = screen.size().context("the terminal")?;
        stage.view.resize(width, height);
        let reader = Reader::begin(inputs)?;
        let frame = Duration::from_secs(1) / u32::from(stage.fps);
        let mut meter = Meter::new();
        let (mut changed, mut due) = (true, Instant::now());
        let mut gone = false;
        loop {
            let now = Instant::now();
            let patience = if changed {
                due.saturating_duration_since(now).min(PATIENCE)
            } else {
                PATIENCE
            };
            let first = if gone {
                std::thread::sleep(patience);
                None
            } else {
                match receiver.recv_timeout(patience) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => {
                        gone = true;
                        None
                    }
                }
            };
            let mut turn = Turn::On;
            for message in first.into_iter().chain(receiver.try_iter()).take(BATCH) {
                changed = true;
                if let Message::Input(_) = message {
                    due = Instant::now();
                }
                turn = take(&mut stage.view, message, &control)?;
                if turn != Turn::On {
                    break;
                }
            }
            if ender.ended() {
                turn = Turn::Quit;
            }
            if stopped.swap(false, Ordering::Relaxed) {
                turn = Turn::Sleep;
            }
            match turn {
                Turn::Quit => break,
                Turn::Sleep => {
                    screen.leave().context("the terminal")?;
                    low_level::emulate_default_handler(SIGTSTP).context("SIGTSTP")?;
                    // Whatever else woke us: here we are again.
                    continued.store(true, Ordering::Relaxed);
                }
                Turn::Paint => screen.forget().context("the terminal")?,
                Turn::On => {}
            }
            if continued.swap(false, Ordering::Relaxed) {
                screen.resume().context("the terminal")?;
                let (width, height) = screen.size().context("the terminal")?;
                stage.view.resize(width, height);
                (changed, due) = (true, Instant::now());
            }
            if let Some(own) = meter.look() {
                stage.view.own(own);
                losses(&mut stage.view, drops.as_deref(), &not_shown);
                changed = true;
            }
            if changed && Instant::now() >= due {
                screen.draw(&stage.view).context("the terminal")?;
                (changed, due) = (false, Instant::now() + frame);
            }
        }
        // The terminal first: what comes now may take a while, and can be interrupted.
        screen.leave().context("the terminal")?;
        ender.end();
        ender.hasten()?;
        drop(receiver);
        reader.end();
        Ok(())
    }
}

fn flag_of(signal: i32) -> Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    flag::register(signal, Arc::clone(&raised)).context("signals")?;
    Ok(raised)
}

fn take(view: &mut View, message: Message, control: &Control) -> Result<Turn> {
    let effect = match message {
        Message::Window(rows) => {
            view.window(*rows);
            return Ok(Turn::On);
        }
        Message::Replace(windows) => {
            view.replace(windows);
            return Ok(Turn::On);
        }
        Message::Mesh(rows) => {
            view.mesh(*rows);
            return Ok(Turn::On);
        }
        Message::Motion(motion) => {
            view.header().motion = motion;
            return Ok(Turn::On);
        }
        Message::Note(note) => {
            view.note(note);
            return Ok(Turn::On);
        }
        Message::Gone(error) => return Err(error).context("the terminal"),
        Message::Input(Input::Size(width, height)) => {
            view.resize(width, height);
            return Ok(Turn::On);
        }
        Message::Input(Input::Key(key)) => view.key(key),
        Message::Input(Input::Mouse(mouse)) => view.mouse(mouse),
    };
    let motion = match effect {
        Effect::Nothing => return Ok(Turn::On),
        Effect::Quit => return Ok(Turn::Quit),
        Effect::Suspend => return Ok(Turn::Sleep),
        Effect::Redraw => return Ok(Turn::Paint),
        Effect::Pause(paused) => control.pause(paused),
        Effect::Speed(speed) => control.speed(speed),
        Effect::Seek(seek) => control.seek(seek),
    };
    if view.header().motion != Motion::Ended {
        view.header().motion = motion;
    }
    Ok(Turn::On)
}

/// What was dropped since the beginning.
fn losses(view: &mut View, drops: Option<&Drops>, not_shown: &AtomicU64) {
    let losses = &mut view.header().losses;
    losses.windows_not_shown = not_shown.load(Ordering::Relaxed);
    if let Some(drops) = drops {
        losses.interface_frames = drops.interface_frames();
        losses.socket_frames = Some(drops.socket_frames());
    }
}

/// The thread that reads keys.
struct Reader {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn begin(inputs: SyncSender<Message>) -> Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let read = move || {
            while !end.load(Ordering::Relaxed) {
                let message = match screen::read(PATIENCE) {
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
            thread: thread.context("the keys")?,
        })
    }

    fn end(self) {
        self.ended.store(true, Ordering::Relaxed);
        // It has nothing to say that matters now.
        let _ = self.thread.join();
    }
}
