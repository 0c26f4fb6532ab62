//! Why a connection ended, by reason and in words.

use crate::http2::message;
use std::error::Error as _;
use std::fmt;
use tonic::{Code, Status};

/// The reason of a failure, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There was no connection.
    Unreachable,
    /// The certificate of the server, or its TLS.
    Certificate,
    /// The server refused the user or the password.
    Login,
    /// The server does not serve what was asked for.
    Unsupported,
    /// It sent nothing in time.
    Silent,
    /// The connection, or a stream, ended early.
    Cut,
    /// What it sent could not be read.
    Unreadable,
}

impl Reason {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Certificate => "certificate",
            Self::Login => "login",
            Self::Unsupported => "unsupported",
            Self::Silent => "silent",
            Self::Cut => "cut",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its reason.
    pub reason: Reason,
    /// What happened.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Failure {
    pub(super) fn new(reason: Reason, why: impl Into<String>) -> Self {
        Self {
            reason,
            why: why.into(),
        }
    }

    /// The failure of a call.
    pub(super) fn of(status: &Status) -> Self {
        let said = said(status);
        match status.code() {
            // It did not come from the server.
            _ if status.source().is_some() => Self::new(Reason::Cut, format!("the connection ended{said}")),
            Code::Unauthenticated => Self::new(Reason::Login, format!("the user or the password was refused{said}")),
            Code::PermissionDenied => Self::new(Reason::Login, format!("the user may not read this{said}")),
            Code::OutOfRange | Code::Internal | Code::DataLoss => {
                Self::new(Reason::Unreadable, format!("the answer is not readable{said}"))
            }
            _ if is_unsupported(status) => Self::new(Reason::Unsupported, format!("this is not served{said}")),
            _ => Self::new(Reason::Cut, format!("the connection ended{said}")),
        }
    }
}

/// Whether a call failed because of what it asked for, so that others may succeed.
pub(super) fn is_unsupported(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::InvalidArgument
            | Code::NotFound
            | Code::PermissionDenied
            | Code::FailedPrecondition
            | Code::Unimplemented
    )
}

/// What the server said, behind a colon.
pub(super) fn said(status: &Status) -> String {
    let said = message(status);
    match said.is_empty() {
        true => String::new(),
        false => format!(": {said}"),
    }
}
