//! A program that runs under this one: signals pass to it, and this process ends as it did.

use crate::error::{Result, RuntimeError};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, setrlimit};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::{emulate_default_handler, siginfo::Cause, signal_name};
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};

/// Signals that pass to the program.
const PASSED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// A program that runs.
pub struct Job {
    child: Child,
    signals: SignalsInfo<WithOrigin>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("pid", &self.child.id())
            .finish_non_exhaustive()
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With a status.
    Exited(u8),
    /// By a signal.
    Killed(i32),
}

impl Job {
    /// Starts the program. From now on signals do not end this process: they pass to the program.
    ///
    /// # Errors
    /// [`RuntimeError::Signals`]; the program cannot be started.
    pub fn start(command: &mut Command) -> Result<io::Result<Self>> {
        // What this process ignores, as under `nohup`, the program ignores too: a handler would change that.
        let ignored = ignored(&fs::read_to_string("/proc/self/status").map_err(RuntimeError::Signals)?);
        let handled = PASSED.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        // Before the start: the program may end at once.
        let signals = SignalsInfo::new(handled.chain([SIGCHLD])).map_err(RuntimeError::Signals)?;
        Ok(command.spawn().map(|child| Self { child, signals }))
    }

    /// Number of its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, and passes signals to it until then.
    ///
    /// # Errors
    /// The operating system does not report it.
    pub fn wait(mut self) -> io::Result<Ended> {
        let pid = Pid::from_child(&self.child);
        for received in &mut self.signals {
            if received.signal == SIGCHLD {
                if let Some(status) = self.child.try_wait()? {
                    return Ok(Ended::of(status));
                }
                continue;
            }
            // What is typed at a terminal reaches the program without us: it is in the same group.
            if received.cause != Cause::Kernel
                && let Some(signal) = Signal::from_named_raw(received.signal)
            {
                // It may have ended.
                let _ = kill_process(pid, signal);
            }
        }
        // The iterator ends only if it is closed, which nothing does.
        self.child.wait().map(Ended::of)
    }
}

impl Ended {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            // A status has eight bits.
            (Some(code), _) => Self::Exited(code as u8),
            (None, signal) => Self::Killed(signal.unwrap_or(0)),
        }
    }

    /// The name of the signal that ended it.
    #[must_use]
    pub fn signal(self) -> Option<String> {
        match self {
            Self::Exited(_) => None,
            Self::Killed(signal) => Some(match signal_name(signal) {
                Some(name) => name.to_owned(),
                None => format!("signal {signal}"),
            }),
        }
    }

    /// Ends this process by the same signal; returns the status with which to end it otherwise, as shells state it.
    #[must_use]
    pub fn repeat(self) -> ExitCode {
        match self {
            Self::Exited(code) => ExitCode::from(code),
            Self::Killed(signal) => {
                // A memory image of this process would replace that of the program.
                let none = Rlimit {
                    current: Some(0),
                    maximum: Some(0),
                };
                let _ = setrlimit(Resource::Core, none);
                let _ = emulate_default_handler(signal);
                ExitCode::from(signal.saturating_add(128) as u8)
            }
        }
    }
}

/// The signals that a process ignores, a bit each, from its `/proc/PID/status`.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_are_ignored_are_known() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n";
        assert_eq!(ignored(status), 0x1001);
        assert_eq!(ignored("SigIgn:\tx\n"), 0);
    }

    #[test]
    fn an_end_has_a_status_or_a_signal() {
        assert_eq!(Ended::of(ExitStatus::from_raw(3 << 8)), Ended::Exited(3));
        let killed = Ended::of(ExitStatus::from_raw(9));
        assert_eq!(
            (killed, killed.signal().as_deref()),
            (Ended::Killed(9), Some("SIGKILL"))
        );
        assert_eq!(Ended::Killed(40).signal().as_deref(), Some("signal 40"));
        assert_eq!(Ended::Exited(3).signal(), None);
    }
}
