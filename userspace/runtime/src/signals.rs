//! SIGINT and SIGTERM end the input; the results so far are finished and printed. SIGUSR1 requests the
//! counts so far, SIGHUP a reload of the configuration.

use crate::error::{Result, RuntimeError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGINT, SIGTERM, SIGTSTP, SIGUSR1};
pub use signal_hook::consts::{SIGHUP, SIGQUIT};
use signal_hook::{flag, low_level};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The signals received so far.
#[derive(Debug)]
pub struct Signals {
    ended: Arc<AtomicBool>,
    counts: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
    /// Receives a byte with every signal, to wake a reader of the input.
    wake: UnixStream,
    waker: Arc<UnixStream>,
}

/// Ends the input as a signal would.
#[derive(Clone, Debug)]
pub struct Ender {
    ended: Arc<AtomicBool>,
    waker: Arc<UnixStream>,
}

impl Ender {
    /// Ends it.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        // A full socket wakes the reader anyway.
        let _ = (&*self.waker).write(&[0]);
    }

    /// Whether to end.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// After the end, another signal ends the process immediately.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn exit_on_next_signal(&self) -> Result<()> {
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&self.ended)).map_err(RuntimeError::Signals)?;
        }
        Ok(())
    }
}

/// Requests a reload of the configuration as SIGHUP does.
#[derive(Clone, Debug)]
pub struct Reloader(Arc<AtomicBool>);

impl Reloader {
    /// Requests it.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Signals {
    /// Installs the handlers. A second signal ends the process immediately.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn install() -> Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        // Registered before the flag is set: the first signal finds it unset, sets it, and continues.
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&ended)).map_err(RuntimeError::Signals)?;
        }
        Self::raising(ended)
    }

    /// Installs the handlers for any number of signals, because a terminal must be restored first.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn install_persistent() -> Result<Self> {
        Self::raising(Arc::default())
    }

    fn raising(ended: Arc<AtomicBool>) -> Result<Self> {
        let (wake, waker) = UnixStream::pair().map_err(RuntimeError::Signals)?;
        for signal in [SIGINT, SIGTERM] {
            end_at(signal, &ended, &waker)?;
        }
        let counts = Arc::new(AtomicBool::new(false));
        flag::register(SIGUSR1, Arc::clone(&counts)).map_err(RuntimeError::Signals)?;
        Ok(Self {
            ended,
            counts,
            reload: Arc::default(),
            wake,
            waker: Arc::new(waker),
        })
    }

    /// Ends the input at one more signal.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn end_at(&self, signal: i32) -> Result<()> {
        end_at(signal, &self.ended, &self.waker)
    }

    /// Returns a handle that ends the input without a signal.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender {
            ended: Arc::clone(&self.ended),
            waker: Arc::clone(&self.waker),
        }
    }

    /// Treats SIGHUP as a request to reload the configuration; by default it ends the process.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn take_reload(&self) -> Result<()> {
        flag::register(SIGHUP, Arc::clone(&self.reload)).map_err(RuntimeError::Signals)?;
        Ok(())
    }

    /// Returns a handle that requests a reload without a signal.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        Reloader(Arc::clone(&self.reload))
    }

    /// Whether a reload of the configuration was requested since the last call.
    #[must_use]
    pub fn reload_requested(&self) -> bool {
        self.reload.swap(false, Ordering::Relaxed)
    }

    /// Whether the counts were requested since the last call.
    #[must_use]
    pub fn counts_requested(&self) -> bool {
        self.counts.swap(false, Ordering::Relaxed)
    }

    /// Whether to end.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Waits for a signal, at most this long.
    pub fn wait(&self, at_most: Duration) {
        let timeout = Timespec::try_from(at_most).ok();
        let mut ready = [PollFd::new(&self.wake, PollFlags::IN)];
        // Interrupted by a signal, or not: the caller looks.
        let _ = poll(&mut ready, timeout.as_ref());
    }

    /// Standard input, which ends at a signal even without input.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn stdin(&self) -> Result<Interruptible> {
        let stdin = io::stdin().as_fd().try_clone_to_owned();
        Ok(Interruptible {
            // Without the buffer of `Stdin`: buffered input would not wake `poll`.
            stdin: stdin.map_err(RuntimeError::StandardInput)?.into(),
            wake: self.wake.try_clone().map_err(RuntimeError::Signals)?,
        })
    }
}

/// Whether the user stopped or continued the process.
#[derive(Debug, Default)]
pub struct JobControl {
    stopped: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
}

impl JobControl {
    /// Installs handlers for SIGTSTP and SIGCONT.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn install(&self) -> Result<()> {
        for (signal, raised) in [(SIGTSTP, &self.stopped), (SIGCONT, &self.continued)] {
            flag::register(signal, Arc::clone(raised)).map_err(RuntimeError::Signals)?;
        }
        Ok(())
    }

    /// Whether SIGTSTP arrived since the last call.
    #[must_use]
    pub fn take_stop(&self) -> bool {
        self.stopped.swap(false, Ordering::Relaxed)
    }

    /// Whether SIGCONT arrived since the last call.
    #[must_use]
    pub fn take_continue(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Stops the process as SIGTSTP does; returns when it is continued.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn suspend(&self) -> Result<()> {
        low_level::emulate_default_handler(SIGTSTP).map_err(RuntimeError::Signals)?;
        self.continued.store(false, Ordering::Relaxed);
        Ok(())
    }
}

fn end_at(signal: i32, ended: &Arc<AtomicBool>, waker: &UnixStream) -> Result<()> {
    flag::register(signal, Arc::clone(ended))
        .and_then(|_| low_level::pipe::register(signal, waker.try_clone()?))
        .map_err(RuntimeError::Signals)?;
    Ok(())
}

/// Standard input up to a signal.
#[derive(Debug)]
pub struct Interruptible {
    stdin: File,
    wake: UnixStream,
}

impl Read for Interruptible {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut ready = [
            PollFd::new(&self.stdin, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        while let Err(error) = poll(&mut ready, None) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let [_, wake] = ready;
        if wake.revents().is_empty() {
            self.stdin.read(buf)
        } else {
            Ok(0)
        }
    }
}
