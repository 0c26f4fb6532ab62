//! One writer per observer and root, which makes names unique and leftovers recognisable.
//!
//! The lock is a kernel lock (`flock`) on an empty file that remains: it ends with the process that holds it, even
//! after a kill. A journal whose observer is not locked is a leftover.

use crate::Error;
use crate::name::{Observer, lock_path};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

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
}
