//! Enters, restores, reads and writes the terminal.

use crate::keys::Key;
use crate::layout;
use crate::view::Mouse;
use crate::{View, draw};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton,
    MouseEventKind,
};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout};
use std::os::fd::AsFd;
use std::sync::Once;
use std::time::Duration;

/// Holds every frame: 200 by 60 cells, each with its colours.
const FRAME_BYTES: usize = 256 << 10;

/// A terminal that shows the view; dropping it restores the terminal.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    mouse: bool,
    entered: bool,
}

/// Input from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// The mouse.
    Mouse(Mouse),
    /// New numbers of columns and lines.
    Size(u16, u16),
}

impl Screen {
    /// Takes over the terminal. Dropping this restores it, and so does a panic before its message.
    ///
    /// # Errors
    /// There is no terminal.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        restore_before_panics();
        // `Stdout` alone writes 1 KiB at a time, and a terminal may show a part of a frame.
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, io::stdout()));
        let size = backend.size()?;
        let viewport = if size.width == 0 || size.height == 0 {
            // A serial line does not report its size: use the minimum.
            let (width, height) = layout::MIN_SIZE;
            Viewport::Fixed(Rect::new(0, 0, width, height))
        } else {
            Viewport::Fullscreen
        };
        let mut screen = Self {
            terminal: Terminal::with_options(backend, TerminalOptions { viewport })?,
            mouse,
            entered: false,
        };
        screen.resume()?;
        Ok(screen)
    }

    /// Takes over the terminal again; the next draw paints all cells.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn resume(&mut self) -> io::Result<()> {
        self.entered = true;
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        if self.mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        self.forget()
    }

    /// Restores the terminal; [`resume`](Self::resume) takes it over again.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn leave(&mut self) -> io::Result<()> {
        if self.entered {
            self.entered = false;
            restore()?;
        }
        Ok(())
    }

    /// Paints the cells that have changed.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, view: &View) -> io::Result<()> {
        self.terminal.draw(|frame| draw(view, frame))?;
        Ok(())
    }

    /// Makes the next [`draw`](Self::draw) paint all cells.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        // `Terminal::clear` would query the cursor position, and some terminals never answer.
        let (width, height) = self.size()?;
        self.terminal.resize(Rect::new(0, 0, width, height))
    }

    /// Columns and lines.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok(match (size.width, size.height) {
            (0, _) | (_, 0) => layout::MIN_SIZE,
            known => known,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // No one is left to report an error to.
        let _ = self.leave();
    }
}

fn restore() -> io::Result<()> {
    // Each step runs even if another fails.
    let screen = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
    disable_raw_mode().and(screen)
}

fn restore_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let _ = restore();
            before(panic);
        }));
    });
}

/// Waits at most `timeout` for input; `None` for input that the view does not use.
///
/// # Errors
/// The terminal is gone.
pub fn read(timeout: Duration) -> io::Result<Option<Input>> {
    await_input(Duration::ZERO)?;
    if !event::poll(Duration::ZERO)? {
        await_input(timeout)?;
        if !event::poll(Duration::ZERO)? {
            return Ok(None);
        }
    }
    Ok(match event::read()? {
        Event::Key(pressed) => key(pressed).map(Input::Key),
        Event::Resize(width, height) => Some(Input::Size(width, height)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Mouse::Press(mouse.column, mouse.row)),
            MouseEventKind::ScrollDown => Some(Mouse::Wheel(mouse.column, mouse.row, 3)),
            MouseEventKind::ScrollUp => Some(Mouse::Wheel(mouse.column, mouse.row, -3)),
            _ => None,
        }
        .map(Input::Mouse),
        _ => None,
    })
}

/// Waits for input. Crossterm would read forever from a terminal that is gone, so this checks for a hangup first.
fn await_input(timeout: Duration) -> io::Result<()> {
    let (input, output) = (io::stdin(), io::stdout());
    let terminal = if input.is_terminal() {
        input.as_fd()
    } else {
        output.as_fd()
    };
    let mut waited = [PollFd::from_borrowed_fd(terminal, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    match poll(&mut waited, Some(&timeout)) {
        // A signal may mean a new size.
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if waited[0].revents().intersects(gone) {
        return Err(io::Error::new(ErrorKind::BrokenPipe, "the terminal is gone"));
    }
    Ok(())
}

fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let held = |modifier| pressed.modifiers.contains(modifier);
    Some(match pressed.code {
        KeyCode::Char(character) if held(KeyModifiers::CONTROL) => Key::Ctrl(character),
        KeyCode::Char(character) if held(KeyModifiers::ALT) => Key::Alt(character),
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}
