//! How commands reach a device: a trait, so that tests and other transports need no SSH.

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
    /// Runs a command and returns what it prints.
    ///
    /// # Errors
    /// The session is over: another must be opened.
    fn run(&mut self, command: &str, limit: Duration) -> Result<String, Failure>;
}
