//! Locks of a dataset, all of them kernel locks (`flock`): they end with the process that holds them, even after a kill.
//!
//! One writer per observer and root makes names unique and leftovers recognisable: its lock is on an empty file that
//! remains, and a journal whose observer is not locked is a leftover. The other locks are on directories.

use crate::Error;
use crate::name::{COMPACT, OPEN, Observer, lock_path};
use rocescope_model::ROLLUPS;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub(crate) struct ObserverLock(File);

/// Closing the file is not enough: a child process that another thread just forked keeps it open until it calls exec.
impl Drop for ObserverLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl ObserverLock {
    /// Acquires the lock; `None` if a running process holds it.
    pub(crate) fn acquire(root: &Path, observer: &Observer) -> Result<Option<Self>, Error> {
        let path = lock_path(root, observer);
        let failed = |source| Error::io("write", &path, source);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }

    /// Whether the lock is still on the file of its name: others see only that.
    pub(crate) fn is_at(&self, root: &Path, observer: &Observer) -> Result<bool, Error> {
        let path = lock_path(root, observer);
        let failed = |source| Error::io("read", &path, source);
        let held = self.0.metadata().map_err(failed)?;
        match std::fs::metadata(&path) {
            Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Held while the names in the directory of an hour change: shared by everyone who adds a segment, exclusive for the
/// moment in which compaction exchanges the directory, which would take a segment away that came after it was listed.
#[derive(Debug)]
pub(crate) struct HourLock(File);

impl Drop for HourLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl HourLock {
    pub(crate) fn shared(root: &Path) -> Result<Self, Error> {
        Self::acquire(root, File::lock_shared)
    }

    pub(crate) fn exclusive(root: &Path) -> Result<Self, Error> {
        Self::acquire(root, File::lock)
    }

    fn acquire(root: &Path, lock: fn(&File) -> io::Result<()>) -> Result<Self, Error> {
        let (path, directory) = directory(root, OPEN)?;
        lock(&directory).map_err(|source| Error::io("lock", &path, source))?;
        Ok(Self(directory))
    }
}

/// One compaction per root.
#[derive(Debug)]
pub(crate) struct CompactLock(File);

impl Drop for CompactLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl CompactLock {
    /// Acquires the lock; `None` if a running process holds it.
    pub(crate) fn acquire(root: &Path) -> Result<Option<Self>, Error> {
        let (path, directory) = directory(root, COMPACT)?;
        match directory.try_lock() {
            Ok(()) => Ok(Some(Self(directory))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }
}

/// One process that makes rollups per root.
#[derive(Debug)]
pub(crate) struct RollupLock(File);

impl Drop for RollupLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl RollupLock {
    /// Acquires the lock; `None` if a running process holds it.
    pub(crate) fn acquire(root: &Path) -> Result<Option<Self>, Error> {
        let (path, directory) = directory(root, ROLLUPS)?;
        match directory.try_lock() {
            Ok(()) => Ok(Some(Self(directory))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }
}

/// Opens a directory in the root, and makes it if it does not exist.
fn directory(root: &Path, name: &str) -> Result<(PathBuf, File), Error> {
    let path = root.join(name);
    std::fs::create_dir_all(&path).map_err(|source| Error::io("create", &path, source))?;
    let directory = File::open(&path).map_err(|source| Error::io("open", &path, source))?;
    Ok((path, directory))
}
