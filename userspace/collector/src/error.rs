//! What can go wrong before anything is sent or taken.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the collector or of an agent's end of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {place}: {cause}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or address.
        place: String,
        /// Why not.
        cause: io::Error,
    },
    /// A key or certificate is not one, or does not fit its partner.
    #[error("{}: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The address of the collector is none.
    #[error("{url} is no address of a collector: {reason}, as in https://collector.example:4792")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Another process uses the spool.
    #[error("spool {} is used by another process", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
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
        Self::Io {
            action,
            place,
            cause,
        }
    }
}
