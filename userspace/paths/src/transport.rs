//! How commands reach a device: a trait, so that tests and other transports need no SSH.

use crate::driver::{Refusal, shown};
use anstream::adapter::strip_str;
use std::time::Duration;

/// How a node is reached and asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name of the node.
    pub name: String,
    /// Address or name at which it is managed, perhaps with a port.
    pub management: String,
    /// Whether commands go to a shell that stays, or each to a channel of its own.
    pub session: crate::driver::SessionKind,
}

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The reason, by which flows are counted.
    pub reason: &'static str,
    /// What happened, and what to do.
    pub message: String,
}

/// The reason of a question that was not asked or answered because the run was ended.
pub const INTERRUPTED: &str = "interrupted";

/// The reason of a device that refuses another session beside those that are open: it is asked again over fewer.
pub const SESSION_REFUSED: &str = "session_refused";

impl Failure {
    /// A failure.
    #[must_use]
    pub fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }
}

/// What a device printed to a command, without what controls a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// Exit status; 0 is success.
    pub status: i32,
}

/// The reason of a command that failed.
pub const COMMAND_FAILED: &str = "command_failed";

impl Reply {
    /// A reply; colors and other sequences for terminals are left out.
    #[must_use]
    pub fn new(output: &str, errors: &str, status: i32) -> Self {
        let [output, errors] = [output, errors].map(|text| strip_str(text).to_string());
        Self { output, errors, status }
    }

    /// Both outputs.
    #[must_use]
    pub fn all(&self) -> String {
        format!("{}\n{}", self.output, self.errors)
    }

    /// Refuses a command that failed: what it printed is no answer.
    pub(crate) fn succeeded(&self) -> Result<(), Refusal> {
        if self.status == 0 {
            return Ok(());
        }
        // Errors first: that is where a command explains itself.
        let printed = shown(&format!("{}\n{}", self.errors, self.output));
        let message = format!("the command failed with exit status {}: {printed}", self.status);
        Err(Refusal::new(COMMAND_FAILED, message))
    }
}

/// Opens sessions.
pub trait Transport: Sync {
    /// Opens a session.
    ///
    /// # Errors
    /// The device cannot be reached, is not the one that is known, or refuses.
    fn open(&self, device: &Device) -> Result<Box<dyn Session>, Failure>;
}

/// A session: runs one command at a time.
pub trait Session: Send {
    /// Runs a command and returns what it prints, whatever its exit status.
    ///
    /// # Errors
    /// The session is over: another must be opened.
    fn run(&mut self, command: &str, limit: Duration) -> Result<Reply, Failure>;
}
