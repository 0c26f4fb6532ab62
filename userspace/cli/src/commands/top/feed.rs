//! The destination of windows: the screen, or standard output.

use super::once::Printer;
use super::process::ThisProcess;
use anyhow::Result;
use rocescope_diagnose::incidents::Captured;
use rocescope_diagnose::owners::Owners;
use rocescope_engine::Notices;
use rocescope_engine::drops::Drops;
use rocescope_engine::intake::Tap;
use rocescope_model::hosts::Hosts;
use rocescope_model::{HostPortRow, IncidentRow, LoopbackRow, MeshRows, WindowRows};
use rocescope_runtime::signals::Ender;
use rocescope_runtime::status::line;
use rocescope_view::{Control, Next, Notes, Player, Stage, Stopped};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// The destination of windows.
pub(super) enum Feed {
    /// The screen.
    Screen(Box<Player>),
    /// Standard output.
    Printed(Box<Printer>),
}

/// Lines for the user: on standard error, or on the screen if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Arc<OnceLock<Notes>>);

impl Lines {
    /// Sends later lines to the screen, if there is one.
    pub(super) fn show_on(&self, notes: Option<Notes>) {
        // A screen starts only once.
        let _ = notes.map(|notes| self.0.set(notes));
    }

    /// Notices of the engine as lines.
    pub(super) fn notices(&self) -> Notices {
        let notes = Arc::clone(&self.0);
        Notices::to(move |notice| {
            let shown = match notes.get() {
                Some(notes) => notes.send(notice.to_string()),
                None => Err(notice.to_string()),
            };
            if let Err(notice) = shown {
                line(format_args!("{notice}"));
            }
        })
    }
}

impl Feed {
    pub(super) fn printed(printer: Printer) -> Self {
        Self::Printed(Box::new(printer))
    }

    pub(super) fn screen(stage: Stage, control: Control, live: bool) -> Self {
        Self::Screen(Box::new(Player::new(stage, control, live)))
    }

    /// Starts the thread that draws, if there is a screen; `ender` ends the source when the thread ends.
    pub(super) fn begin(&mut self, ender: Ender, drops: Option<Arc<Drops>>) -> Result<Option<Notes>> {
        match self {
            Self::Printed(_) => Ok(None),
            Self::Screen(player) => Ok(player.begin(Box::new(ThisProcess::new(ender, drops)))?),
        }
    }

    /// Shows a window when it is due.
    pub(super) fn window(&mut self, rows: &mut WindowRows) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.window(rows),
            Self::Screen(player) => Ok(player.window(rows)?),
        }
    }

    /// Waits until the window at this time is due, or the user seeks another.
    pub(super) fn due(&mut self, time_ns: i64) -> Result<Next> {
        match self {
            Self::Printed(_) => Ok(Next::Go),
            Self::Screen(player) => Ok(player.due(time_ns)?),
        }
    }

    /// Replaces all earlier windows.
    pub(super) fn replace(&mut self, windows: Vec<WindowRows>) -> Result<()> {
        match self {
            Self::Printed(_) => self.add(windows),
            Self::Screen(player) => Ok(player.replace(windows)?),
        }
    }

    /// Whether this window of the mesh is on the screen; printed windows are not kept.
    pub(super) fn mesh_is(&self, number: Option<usize>) -> bool {
        match self {
            Self::Printed(_) => number.is_none(),
            Self::Screen(player) => player.mesh_number() == number,
        }
    }

    /// Sets the mesh of probes for the following windows.
    pub(super) fn mesh(&mut self, number: Option<usize>, rows: MeshRows) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.formatter.mesh(rows),
            Self::Screen(player) => player.mesh(number, rows)?,
        }
        Ok(())
    }

    /// Sets the ports of hosts for the following windows.
    pub(super) fn host_ports(&mut self, rows: Vec<HostPortRow>) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.formatter.host_ports(rows),
            Self::Screen(player) => player.host_ports(rows)?,
        }
        Ok(())
    }

    /// Sets all incidents that are known, the worst first.
    pub(super) fn incidents(&mut self, rows: Vec<IncidentRow>) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.formatter.incidents(rows),
            Self::Screen(player) => player.incidents(rows)?,
        }
        Ok(())
    }

    /// Sets the loopback tests inside hosts for the following windows; they have a command of their own to print them.
    pub(super) fn loopback(&mut self, rows: Vec<LoopbackRow>) -> Result<()> {
        if let Self::Screen(player) = self {
            player.loopback(rows)?;
        }
        Ok(())
    }

    /// Sets whose queue pairs are, for the following windows.
    pub(super) fn owners(&mut self, owners: Arc<Owners>) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.formatter.owners(owners),
            Self::Screen(player) => player.owners(owners)?,
        }
        Ok(())
    }

    /// Prints a window without captured traffic.
    pub(super) fn without_traffic(&mut self, start_ns: i64) -> Result<()> {
        match self {
            Self::Printed(printer) => printer.without_traffic(start_ns),
            Self::Screen(_) => Ok(()),
        }
    }

    /// A line for the user.
    pub(super) fn note(&self, note: impl Into<String>) -> Result<()> {
        match self {
            Self::Printed(_) => Ok(()),
            Self::Screen(player) => Ok(player.note(note.into())?),
        }
    }

    /// Waits after the last window until the user seeks another.
    pub(super) fn rest(&mut self) -> Result<Next> {
        match self {
            Self::Printed(_) => Err(Stopped.into()),
            Self::Screen(player) => Ok(player.rest()?),
        }
    }

    /// Shows windows immediately.
    pub(super) fn add(&mut self, windows: Vec<WindowRows>) -> Result<()> {
        for mut rows in windows {
            match self {
                Self::Printed(printer) => printer.window(&mut rows)?,
                Self::Screen(player) => player.show(rows)?,
            }
        }
        Ok(())
    }

    /// Whether windows are printed without a user who seeks others.
    pub(super) const fn is_printed(&self) -> bool {
        matches!(self, Self::Printed(_))
    }

    /// Shows how the source ended, and waits for the user to quit. Returns the error of the source, if
    /// any.
    pub(super) fn finish(&mut self, source: Result<()>) -> Result<()> {
        let player = match self {
            Self::Printed(printer) => return printer.finish(source),
            Self::Screen(player) => player,
        };
        let failed = source.as_ref().err().filter(|error| !error.is::<Stopped>());
        let shown = player.finish(failed.map(|error| format!("{error:#}")));
        match source {
            Err(error) if !error.is::<Stopped>() => Err(error),
            _ => Ok(shown?),
        }
    }
}

/// Event time between two looks at what is wrong.
const LOOK_NS: i64 = 5_000_000_000;

/// Judges the rows of a capture as they come.
struct Judging {
    captured: Captured,
    next_ns: i64,
}

impl Judging {
    fn new(names: &Hosts, mirror_sampling: Option<u64>) -> Self {
        Self {
            captured: Captured::default().with(names).sampling(mirror_sampling),
            next_ns: i64::MIN,
        }
    }

    /// The incidents up to these rows, from time to time.
    fn rows(&mut self, rows: &WindowRows) -> Option<Vec<IncidentRow>> {
        self.captured.rows(rows);
        let newest_ns = rows.windows.iter().map(|row| row.window_start_ns).max()?;
        if newest_ns < self.next_ns {
            return None;
        }
        self.next_ns = newest_ns.saturating_add(LOOK_NS);
        Some(self.captured.current().rows("", newest_ns))
    }
}

/// A feed for the windows of a capture.
pub(super) struct TappedFeed {
    feed: Rc<RefCell<Feed>>,
    /// Why the feed refused a window.
    refused: Rc<RefCell<Option<anyhow::Error>>>,
}

impl TappedFeed {
    pub(super) fn new(feed: Feed) -> Self {
        Self {
            feed: Rc::new(RefCell::new(feed)),
            refused: Rc::default(),
        }
    }

    /// Returns a tap that judges and feeds windows after `change`, which returns the ports of this host if it reads them.
    pub(super) fn tap(
        &self,
        names: &Hosts,
        mirror_sampling: Option<u64>,
        mut change: impl FnMut(&mut WindowRows) -> Option<Vec<HostPortRow>> + 'static,
    ) -> Tap {
        let (feed, refused) = (Rc::clone(&self.feed), Rc::clone(&self.refused));
        let mut judging = Judging::new(names, mirror_sampling);
        Box::new(move |rows| {
            let incidents = judging.rows(rows);
            let ports = change(rows);
            let mut feed = feed.borrow_mut();
            let shown = incidents.map_or(Ok(()), |incidents| feed.incidents(incidents));
            let shown = shown.and_then(|()| ports.map_or(Ok(()), |ports| feed.host_ports(ports)));
            match shown.and_then(|()| feed.window(rows)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    *refused.borrow_mut() = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    }

    /// As [`Feed::finish`]; an error of the feed takes precedence over that of the capture.
    pub(super) fn finish(&self, source: Result<()>) -> Result<()> {
        let source = self.refused.borrow_mut().take().map_or(source, Err);
        self.feed.borrow_mut().finish(source)
    }
}
