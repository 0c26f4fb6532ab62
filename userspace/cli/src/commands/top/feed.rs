//! Where sources put windows.

use super::control::{Control, Next, Pace};
use super::once::Printer;
use super::show::{self, Stage};
use crate::drops::Drops;
use crate::signals::Ender;
use anyhow::{Context, Result, anyhow};
use rocescope_model::{MeshRows, WindowRows};
use rocescope_view::screen::Input;
use rocescope_view::{Motion, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Messages between source and view: windows of a quarter of a second at 256 a second. A file waits when
/// it is full; a live source counts the window as not shown and goes on, for nothing may hold it up.
const QUEUE: usize = 64;

/// The user had enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ended by the user")]
pub(super) struct Stopped;

/// What the drawing thread is told.
pub(super) enum Message {
    /// A window has finished.
    Window(Box<WindowRows>),
    /// The source stands elsewhere.
    Replace(Vec<WindowRows>),
    /// The mesh of probes from here on.
    Mesh(Box<MeshRows>),
    /// Time passes in another way.
    Motion(Motion),
    /// A line for the user.
    Note(String),
    /// A key, the mouse, another size.
    Input(Input),
    /// The terminal is gone.
    Gone(std::io::Error),
}

/// Takes windows.
pub(super) enum Feed {
    /// For the screen.
    Screen(Box<ToScreen>),
    /// For standard output.
    Printed(Box<Printer>),
}

/// The way to the screen.
pub(super) struct ToScreen {
    /// Number of the window of the mesh that is shown.
    mesh: Option<usize>,
    /// What is drawn on, until the drawing begins.
    stage: Option<Stage>,
    control: Control,
    live: bool,
    pace: Pace,
    sender: Option<SyncSender<Message>>,
    view: Option<JoinHandle<Result<()>>>,
    not_shown: Arc<AtomicU64>,
}

impl Feed {
    pub(super) fn printed(printer: Printer) -> Self {
        Self::Printed(Box::new(printer))
    }

    pub(super) fn screen(stage: Stage, control: Control, live: bool) -> Self {
        Self::Screen(Box::new(ToScreen {
            mesh: None,
            stage: Some(stage),
            control,
            live,
            pace: Pace::default(),
            sender: None,
            view: None,
            not_shown: Arc::default(),
        }))
    }

    /// Starts the thread that draws; `ender` ends the source when it is over.
    pub(super) fn begin(&mut self, ender: Ender, drops: Option<Arc<Drops>>) -> Result<()> {
        let Self::Screen(screen) = self else {
            return Ok(());
        };
        let stage = screen.stage.take().context("the screen was begun before")?;
        let (sender, receiver) = sync_channel(QUEUE);
        let inputs = sender.clone();
        let ear = sender.clone();
        let show = show::Show {
            stage,
            receiver,
            inputs,
            control: screen.control.clone(),
            ender,
            drops,
            not_shown: Arc::clone(&screen.not_shown),
        };
        crate::say::listen(Some(Box::new(move |line| {
            // Who says something must not wait for the screen.
            let _ = ear.try_send(Message::Note(line));
        })));
        let thread = Builder::new().name("view".into());
        screen.view = Some(thread.spawn(|| show.run()).context("the view")?);
        screen.sender = Some(sender);
        Ok(())
    }

    /// Takes the rows of a window, when its time has come.
    pub(super) fn window(&mut self, rows: &mut WindowRows) -> Result<()> {
        let screen = match self {
            Self::Printed(printer) => return printer.window(rows),
            Self::Screen(screen) => screen,
        };
        if screen.live {
            let rows = Message::Window(Box::new(std::mem::take(rows)));
            if let Some(sender) = &screen.sender {
                match sender.try_send(rows) {
                    Err(TrySendError::Full(_)) => {
                        screen.not_shown.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(TrySendError::Disconnected(_)) => return Err(Stopped.into()),
                    Ok(()) => {}
                }
            }
            return Ok(());
        }
        if let Some(window) = rows.windows.first() {
            // Nothing but the next window can be asked of what comes one by one.
            while let Next::Seek(seek) = screen.due(window.window_start_ns)?
                && seek != Seek::Windows(1)
            {}
        }
        screen.send(Message::Window(Box::new(std::mem::take(rows))))
    }

    /// Waits until the window of this time is due, or another is asked for.
    pub(super) fn due(&mut self, time_ns: i64) -> Result<Next> {
        match self {
            Self::Printed(_) => Ok(Next::Go),
            Self::Screen(screen) => screen.due(time_ns),
        }
    }

    /// These windows take the place of all before.
    pub(super) fn replace(&mut self, windows: Vec<WindowRows>) -> Result<()> {
        match self {
            Self::Printed(_) => self.add(windows),
            Self::Screen(screen) => screen.send(Message::Replace(windows)),
        }
    }

    /// Whether this window of the mesh is shown already. What is printed is used up.
    pub(super) fn mesh_is(&self, number: Option<usize>) -> bool {
        match self {
            Self::Printed(_) => number.is_none(),
            Self::Screen(screen) => screen.mesh == number,
        }
    }

    /// The mesh of probes from here on.
    pub(super) fn mesh(&mut self, number: Option<usize>, rows: MeshRows) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.mesh(rows),
            Self::Screen(screen) => {
                screen.mesh = number;
                return screen.send(Message::Mesh(Box::new(rows)));
            }
        }
        Ok(())
    }

    /// Prints a window of the mesh at a time when nothing was captured.
    pub(super) fn mesh_alone(&mut self) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.mesh_alone(),
            Self::Screen(_) => Ok(()),
        }
    }

    /// A line for the user.
    pub(super) fn note(&self, note: impl Into<String>) -> Result<()> {
        match self {
            Self::Printed(_) => Ok(()),
            Self::Screen(screen) => screen.send(Message::Note(note.into())),
        }
    }

    /// There is no window to come: waits for another to be asked for.
    pub(super) fn rest(&mut self) -> Result<Next> {
        match self {
            Self::Printed(_) => Err(Stopped.into()),
            Self::Screen(screen) => {
                screen.send(Message::Motion(screen.control.pause(true)))?;
                Ok(screen.control.wait()?)
            }
        }
    }

    /// Windows whose time has come.
    pub(super) fn add(&mut self, windows: Vec<WindowRows>) -> Result<()> {
        for mut rows in windows {
            match self {
                Self::Printed(printer) => printer.window(&mut rows)?,
                Self::Screen(screen) => screen.send(Message::Window(Box::new(rows)))?,
            }
        }
        Ok(())
    }

    /// Whether windows are printed, and nobody asks for others.
    pub(super) const fn is_printed(&self) -> bool {
        matches!(self, Self::Printed(_))
    }

    /// The source is over: waits for the user to leave. What ended the source is said at once, and is
    /// the result where it is an error.
    pub(super) fn finish(&mut self, source: Result<()>) -> Result<()> {
        let screen = match self {
            Self::Printed(printer) => return printer.finish(source),
            Self::Screen(screen) => screen,
        };
        let failed = source.as_ref().err().filter(|error| !error.is::<Stopped>());
        if let Some(error) = failed {
            // Where nobody listens any more it is the result all the same.
            let _ = screen.send(Message::Note(format!("{error:#}")));
        }
        let _ = screen.send(Message::Motion(Motion::Ended));
        screen.sender = None;
        let shown = match screen.view.take() {
            Some(view) => view
                .join()
                .unwrap_or_else(|_| Err(anyhow!("the view has panicked"))),
            None => Ok(()),
        };
        crate::say::listen(None);
        match source {
            Err(error) if !error.is::<Stopped>() => Err(error),
            _ => shown,
        }
    }
}

impl ToScreen {
    fn due(&mut self, time_ns: i64) -> Result<Next> {
        let Self {
            pace,
            control,
            sender,
            ..
        } = self;
        let next = pace.wait(control, time_ns, |left| {
            let seconds = left.as_secs();
            let note = format!("the next window is due in {seconds} s; a step on shows it at once");
            if let Some(sender) = sender {
                // Not worth waiting for.
                let _ = sender.try_send(Message::Note(note));
            }
        })?;
        Ok(next)
    }

    fn send(&self, message: Message) -> Result<()> {
        match &self.sender {
            Some(sender) => sender.send(message).map_err(|_| Stopped.into()),
            None => Ok(()),
        }
    }
}
