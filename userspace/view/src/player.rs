//! Windows of a source on their way to the thread that draws, each when its time has come.

use crate::control::{Control, Next, Pace, Stopped};
use crate::show::{Message, Process, Show, ShowError, Stage};
use crate::{Motion, Seek};
use rocescope_model::{MeshRows, WindowRows};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Messages between source and view: windows of a quarter of a second at 256 a second. A file waits when
/// it is full; a live source counts the window as not shown and goes on, for nothing may hold it up.
const QUEUE: usize = 64;

/// Plays the windows of a source on the screen. What it is given fails with [`Stopped`] once the user has left.
#[derive(Debug)]
pub struct Player {
    /// Number of the window of the mesh that is shown.
    mesh: Option<usize>,
    /// What is drawn on, until the drawing begins.
    stage: Option<Stage>,
    control: Control,
    live: bool,
    pace: Pace,
    sender: Option<SyncSender<Message>>,
    view: Option<JoinHandle<Result<(), ShowError>>>,
    not_shown: Arc<AtomicU64>,
}

/// Lines for the user, from any thread.
#[derive(Clone, Debug)]
pub struct Notes(SyncSender<Message>);

impl Notes {
    /// Shows a line. It does not wait for the screen, and gives the line back where that is gone.
    pub fn send(&self, line: String) -> Result<(), String> {
        match self.0.try_send(Message::Note(line)) {
            Err(TrySendError::Disconnected(Message::Note(line))) => Err(line),
            _ => Ok(()),
        }
    }
}

impl Player {
    /// Plays on `stage`, as `control` asks. Windows of a live source are shown as they come.
    #[must_use]
    pub fn new(stage: Stage, control: Control, live: bool) -> Self {
        Self {
            mesh: None,
            stage: Some(stage),
            control,
            live,
            pace: Pace::default(),
            sender: None,
            view: None,
            not_shown: Arc::default(),
        }
    }

    /// Starts the thread that draws, once. It ends the source by `process`.
    ///
    /// # Errors
    /// There is no thread.
    pub fn begin(&mut self, process: Box<dyn Process>) -> Result<Option<Notes>, ShowError> {
        let Some(stage) = self.stage.take() else {
            return Ok(None);
        };
        let (sender, receiver) = sync_channel(QUEUE);
        let show = Show {
            stage,
            receiver,
            inputs: sender.clone(),
            control: self.control.clone(),
            process,
            not_shown: Arc::clone(&self.not_shown),
        };
        let thread = Builder::new().name("view".into());
        let view = thread.spawn(|| show.run()).map_err(ShowError::Thread)?;
        self.view = Some(view);
        self.sender = Some(sender.clone());
        Ok(Some(Notes(sender)))
    }

    /// Takes the rows of a window, when its time has come.
    pub fn window(&mut self, rows: &mut WindowRows) -> Result<(), Stopped> {
        if self.live {
            let rows = Message::Window(Box::new(std::mem::take(rows)));
            return match self.sender.as_ref().map(|sender| sender.try_send(rows)) {
                Some(Err(TrySendError::Disconnected(_))) => Err(Stopped),
                Some(Err(TrySendError::Full(_))) => {
                    self.not_shown.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }
                Some(Ok(())) | None => Ok(()),
            };
        }
        if let Some(window) = rows.windows.first() {
            // Nothing but the next window can be asked of what comes one by one.
            while let Next::Seek(seek) = self.due(window.window_start_ns)?
                && seek != Seek::Windows(1)
            {}
        }
        self.show(std::mem::take(rows))
    }

    /// Shows a window at once.
    pub fn show(&self, rows: WindowRows) -> Result<(), Stopped> {
        self.send(Message::Window(Box::new(rows)))
    }

    /// These windows take the place of all before.
    pub fn replace(&self, windows: Vec<WindowRows>) -> Result<(), Stopped> {
        self.send(Message::Replace(windows))
    }

    /// Number of the window of the mesh that is shown.
    #[must_use]
    pub const fn mesh_number(&self) -> Option<usize> {
        self.mesh
    }

    /// The mesh of probes from here on.
    pub fn mesh(&mut self, number: Option<usize>, rows: MeshRows) -> Result<(), Stopped> {
        self.mesh = number;
        self.send(Message::Mesh(Box::new(rows)))
    }

    /// A line for the user.
    pub fn note(&self, note: String) -> Result<(), Stopped> {
        self.send(Message::Note(note))
    }

    /// Waits until the window of this time is due, or another is asked for.
    pub fn due(&mut self, time_ns: i64) -> Result<Next, Stopped> {
        let Self {
            pace,
            control,
            sender,
            ..
        } = self;
        pace.wait(control, time_ns, |left| {
            let seconds = left.as_secs();
            let note = format!("the next window is due in {seconds} s; a step on shows it at once");
            if let Some(sender) = sender {
                // Not worth waiting for.
                let _ = sender.try_send(Message::Note(note));
            }
        })
    }

    /// There is no window to come: waits for another to be asked for.
    pub fn rest(&mut self) -> Result<Next, Stopped> {
        self.send(Message::Motion(self.control.pause(true)))?;
        self.control.wait()
    }

    /// The source is over, with `note` where it failed: waits for the user to leave.
    ///
    /// # Errors
    /// Drawing failed.
    pub fn finish(&mut self, note: Option<String>) -> Result<(), ShowError> {
        // Where the user has left already no one reads it.
        let _ = note.map(|note| self.note(note));
        let _ = self.send(Message::Motion(Motion::Ended));
        self.sender = None;
        match self.view.take() {
            Some(view) => view.join().unwrap_or(Err(ShowError::Panicked)),
            None => Ok(()),
        }
    }

    fn send(&self, message: Message) -> Result<(), Stopped> {
        match &self.sender {
            Some(sender) => sender.send(message).map_err(|_| Stopped),
            None => Ok(()),
        }
    }
}
