//! Sends the windows of a source to the drawing thread, each when it is due.

use crate::control::{Control, Next, Pace, Stopped};
use crate::show::{Message, Process, Show, ShowError, Stage};
use crate::{Motion, Seek};
use rocescope_diagnose::owners::Owners;
use rocescope_model::{HostPortRow, IncidentRow, LoopbackRow, MeshRows, WindowRows};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Messages between source and view: a quarter of a second at 256 windows per second. When it is full, a file waits;
/// a live source counts the window as not shown and continues, because nothing may block it.
const QUEUE: usize = 64;

/// Plays the windows of a source on the screen. Its methods fail with [`Stopped`] once the user has quit.
#[derive(Debug)]
pub struct Player {
    /// Number of the mesh window that is shown.
    mesh: Option<usize>,
    /// The stage, until the drawing thread takes it.
    stage: Option<Stage>,
    control: Control,
    live: bool,
    pace: Pace,
    sender: Option<SyncSender<Message>>,
    view: Option<JoinHandle<Result<(), ShowError>>>,
    not_shown: Arc<AtomicU64>,
}

/// Sends lines to the user from any thread.
#[derive(Clone, Debug)]
pub struct Notes(SyncSender<Message>);

impl Notes {
    /// Shows a line without waiting for the screen; returns the line if the screen is gone.
    pub fn send(&self, line: String) -> Result<(), String> {
        match self.0.try_send(Message::Note(line)) {
            Err(TrySendError::Disconnected(Message::Note(line))) => Err(line),
            _ => Ok(()),
        }
    }
}

impl Notes {
    /// Shows all incidents that are known, from any thread; waits for the screen, and does nothing once it is gone.
    pub fn incidents(&self, rows: Vec<IncidentRow>) {
        // After the end no one looks.
        let _ = self.0.send(Message::Incidents(rows));
    }
}

impl Player {
    /// Plays on `stage`, as `control` requests. Windows of a live source are shown as they arrive.
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

    /// Starts the drawing thread, once. It ends the source through `process`.
    ///
    /// # Errors
    /// The thread cannot start.
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

    /// Shows the rows of a window when it is due.
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
            // A source of consecutive windows can only go to the next.
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

    /// Replaces all windows by these.
    pub fn replace(&self, windows: Vec<WindowRows>) -> Result<(), Stopped> {
        self.send(Message::Replace(windows))
    }

    /// Number of the mesh window that is shown.
    #[must_use]
    pub const fn mesh_number(&self) -> Option<usize> {
        self.mesh
    }

    /// Shows this probe mesh from now on.
    pub fn mesh(&mut self, number: Option<usize>, rows: MeshRows) -> Result<(), Stopped> {
        self.mesh = number;
        self.send(Message::Mesh(Box::new(rows)))
    }

    /// Shows these ports of hosts from now on. A live source does not wait for the screen.
    pub fn host_ports(&self, rows: Vec<HostPortRow>) -> Result<(), Stopped> {
        match &self.sender {
            Some(sender) if self.live => match sender.try_send(Message::HostPorts(rows)) {
                Err(TrySendError::Disconnected(_)) => Err(Stopped),
                // The next ones follow with the next window.
                _ => Ok(()),
            },
            _ => self.send(Message::HostPorts(rows)),
        }
    }

    /// Shows these incidents from now on: all that are known, the worst first. A live source does not wait for the screen.
    pub fn incidents(&self, rows: Vec<IncidentRow>) -> Result<(), Stopped> {
        match &self.sender {
            Some(sender) if self.live => match sender.try_send(Message::Incidents(rows)) {
                Err(TrySendError::Disconnected(_)) => Err(Stopped),
                // The next ones follow.
                _ => Ok(()),
            },
            _ => self.send(Message::Incidents(rows)),
        }
    }

    /// Shows these loopback tests inside hosts from now on.
    pub fn loopback(&self, rows: Vec<LoopbackRow>) -> Result<(), Stopped> {
        self.send(Message::Loopback(rows))
    }

    /// Shows whose queue pairs are from now on.
    pub fn owners(&self, owners: Arc<Owners>) -> Result<(), Stopped> {
        self.send(Message::Owners(owners))
    }

    /// Shows a line to the user.
    pub fn note(&self, note: String) -> Result<(), Stopped> {
        self.send(Message::Note(note))
    }

    /// Waits until the window of this time is due, or another is requested.
    pub fn due(&mut self, time_ns: i64) -> Result<Next, Stopped> {
        let Self {
            pace, control, sender, ..
        } = self;
        pace.wait(control, time_ns, |left| {
            let seconds = left.as_secs();
            let note = format!("the next window is due in {seconds} s; a step forward shows it at once");
            if let Some(sender) = sender {
                // If the queue is full, the note is not worth waiting for.
                let _ = sender.try_send(Message::Note(note));
            }
        })
    }

    /// After the last window: pauses and waits for a request.
    pub fn rest(&mut self) -> Result<Next, Stopped> {
        self.send(Message::Motion(self.control.pause(true)))?;
        self.control.wait()
    }

    /// The source has ended, with a `note` if it failed: waits for the user to quit.
    ///
    /// # Errors
    /// Drawing failed.
    pub fn finish(&mut self, note: Option<String>) -> Result<(), ShowError> {
        // If the user has quit already, no one reads it.
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
