//! Errors of the store.

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use rocescope_model::Mismatch;
use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Every variant names the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk, or a quota on it, is full. Segments sealed before are complete and remain.
    #[error("the disk is full: cannot {action} {}", path.display())]
    NoSpace {
        /// The failed action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
    },
    /// An operating system call failed.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The cause. Part of the message and therefore not a source: an error chain would print it twice.
        cause: io::Error,
    },
    /// The root of the dataset is missing or not a directory.
    #[error("{}: {}", root.display(), if root.exists() {
        "a file, but a dataset is a directory; `rocescope capture -r FILE --out DIR` makes one of a capture file"
    } else {
        "no such directory"
    })]
    NoDirectory {
        /// The expected root.
        root: PathBuf,
    },
    /// A directory without a dataset.
    #[error("{} contains no dataset: `rocescope capture`, `counters` and `probe` write one with --out, and `rocescope collector run` that of all hosts", root.display())]
    NoDataset {
        /// The directory.
        root: PathBuf,
    },
    /// Another running process writes for this observer into this root.
    #[error(
        "another process writes for observer {observer} into {}: choose another observer name",
        root.display()
    )]
    Busy {
        /// Name of the observer, as in file names.
        observer: String,
        /// Root of the dataset.
        root: PathBuf,
    },
    /// Another process joins segments of this root.
    #[error("another process compacts {}: wait until it ends", root.display())]
    Compacting {
        /// Root of the dataset.
        root: PathBuf,
    },
    /// Another process makes the rollups of this root.
    #[error("another process makes the rollups of {}: wait until it ends", root.display())]
    RollingUp {
        /// Root of the dataset.
        root: PathBuf,
    },
    /// The content of a file, or of the given rows, is invalid.
    #[error("cannot {action} {}: {reason}", path.display())]
    Content {
        /// The failed action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it is invalid.
        reason: String,
    },
    /// A segment of another version of the format.
    #[error("{}: {}", path.display(), other_version(*found, *known))]
    Version {
        /// The segment.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// A cell of a segment does not fit the requested row.
    #[error("{}: {cause}", path.display())]
    Mismatch {
        /// The segment.
        path: PathBuf,
        /// Table and column.
        cause: Mismatch,
    },
}

impl Error {
    /// Whether the disk is full: the dataset is valid, but there is no space for more rows.
    #[must_use]
    pub const fn is_no_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. })
    }

    /// Whether the disk is at fault and not the rows: it is full, it failed, or a directory is missing or cannot be
    /// written. That may pass, and then writing succeeds.
    #[must_use]
    pub const fn is_of_disk(&self) -> bool {
        matches!(self, Self::NoSpace { .. } | Self::Io { .. })
    }

    /// An error of the disk once more; `None` for other errors.
    pub(crate) fn of_disk(&self) -> Option<Self> {
        match self {
            Self::NoSpace { action, path } => Some(Self::NoSpace {
                action,
                path: path.clone(),
            }),
            Self::Io { action, path, cause } => Some(Self::Io {
                action,
                path: path.clone(),
                cause: io::Error::new(cause.kind(), cause.to_string()),
            }),
            _ => None,
        }
    }

    /// The message without the path, for a list that names it.
    pub(crate) fn without_path(&self) -> String {
        match self {
            Self::Io { action, cause, .. } => format!("cannot {action}: {cause}"),
            Self::Content { action, reason, .. } => format!("cannot {action}: {reason}"),
            Self::Version { found, known, .. } => other_version(*found, *known),
            other => other.to_string(),
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { action, path },
            _ => Self::Io {
                action,
                path,
                cause: source,
            },
        }
    }

    pub(crate) fn content(action: &'static str, path: &Path, reason: &dyn ToString) -> Self {
        Self::Content {
            action,
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn arrow(action: &'static str, path: &Path, error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => Self::io(action, path, source),
            other => Self::content(action, path, &other),
        }
    }

    pub(crate) fn parquet(action: &'static str, path: &Path, error: ParquetError) -> Self {
        let ParquetError::External(inner) = error else {
            return Self::content(action, path, &error);
        };
        match inner.downcast::<io::Error>() {
            Ok(source) => Self::io(action, path, *source),
            Err(other) => Self::content(action, path, &innermost(&*other)),
        }
    }
}

/// What to do about a segment of another format.
fn other_version(found: u32, known: u32) -> String {
    if found < known {
        format!("format {found}; run `rocescope dataset repair DATASET` to convert it")
    } else {
        format!("format {found}, but this program reads up to format {known}: use a newer rocescope")
    }
}

/// Returns the last error of a chain: the root cause.
fn innermost<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    error.source().map_or(error, innermost)
}
