//! What can go wrong with a dataset.

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use rocescope_model::Mismatch;
use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the store. Every variant names the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk, or the quota on it, is full. Segments sealed before are whole and stay.
    #[error("the disk is full: cannot {action} {}", path.display())]
    NoSpace {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not. Part of the text, so not a source too: a chain would say it twice.
        cause: io::Error,
    },
    /// What should be the root of a dataset is a file, or not there.
    #[error("{} is not a directory", root.display())]
    NoDirectory {
        /// What should be the root.
        root: PathBuf,
    },
    /// A directory in which nothing of a dataset lies.
    #[error("{} holds no dataset: `--out` of `rocescope capture` or `rocescope probe` writes one", root.display())]
    NoDataset {
        /// The directory.
        root: PathBuf,
    },
    /// A living process writes as this observer into this root.
    #[error(
        "observer {observer} is being written into {} by another process; choose another observer name",
        root.display()
    )]
    Busy {
        /// Name of the observer, as in file names.
        observer: String,
        /// Root of the dataset.
        root: PathBuf,
    },
    /// The content of a file, or of rows given, does not fit.
    #[error("cannot {action} {}: {reason}", path.display())]
    Content {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A segment of a later version of the format.
    #[error("{} is of format version {found}, this program reads up to {known}", path.display())]
    Version {
        /// The segment.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The latest version known.
        known: u32,
    },
    /// A cell of a segment does not fit the row asked for.
    #[error("{}: {cause}", path.display())]
    Mismatch {
        /// The segment.
        path: PathBuf,
        /// Table and column.
        cause: Mismatch,
    },
}

impl Error {
    /// Whether the disk is full: nothing is wrong with the dataset, only there is no room for more.
    #[must_use]
    pub const fn is_no_space(&self) -> bool {
        matches!(self, Self::NoSpace { .. })
    }

    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoSpace { action, path }
            }
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

/// The last error of a chain: the one that says what happened.
fn innermost<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    error.source().map_or(error, innermost)
}
