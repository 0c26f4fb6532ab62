//! Errors before anything is sent or received.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the collector, or of the agent that sends to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {place}: {cause}")]
    Io {
        /// The failed action.
        action: &'static str,
        /// The file or address.
        place: String,
        /// Why not.
        cause: io::Error,
    },
    /// A key or certificate is invalid, or the two do not match.
    #[error("{}: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The URL of the collector is invalid.
    #[error(
        "invalid collector URL {url}: {reason}; expected https://HOST[:PORT], such as https://collector.example:4792"
    )]
    Url {
        /// The URL as given.
        url: String,
        /// The fault.
        reason: &'static str,
    },
    /// A value cannot be sent as metadata of gRPC.
    #[error("the {name} has characters other than visible ASCII: gRPC cannot send it")]
    Metadata {
        /// The name of the value, which may be a secret.
        name: &'static str,
    },
    /// Another process uses the directory.
    #[error("another process uses {}", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the controller is invalid.
    #[error("{}: {reason}", path.display())]
    Control {
        /// The file or directory.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The controller is not reachable, or refuses.
    #[error("{url}: {reason}")]
    Controller {
        /// Its URL.
        url: String,
        /// Why.
        reason: String,
    },
    /// A thread of the collector panicked; the rows that it had not acknowledged are still in the spools of agents.
    #[error("the collector's thread `{thread}` failed, which is a defect; agents keep their rows: start it again")]
    Failed {
        /// Its name.
        thread: &'static str,
    },
    /// The dataset cannot be written.
    #[error(transparent)]
    Store(#[from] rocescope_store::Error),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::at(action, path.display().to_string(), cause)
    }

    pub(crate) fn at(action: &'static str, place: String, cause: io::Error) -> Self {
        Self::Io { action, place, cause }
    }
}
