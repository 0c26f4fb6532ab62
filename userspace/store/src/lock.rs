//! One writer an observer and root: what makes names unique and leftovers recognisable.
//!
//! The lock is the kernel's (`flock`), on an empty file that stays: it ends with the process that
//! holds it, however that ends. A journal whose observer nobody has locked is a leftover.

use crate::Error;
use crate::name::{Observer, lock_path};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct ObserverLock(File);

/// Closing the file is not enough: a process that is being started at this moment by another
/// thread has it open too until it runs its own program.
impl Drop for ObserverLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl ObserverLock {
    /// The lock, or `None` when a living process holds it.
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
