//! What `rocescope dataset ship` has copied to a store, or may have.
//!
//! A segment that the store has, has a marker: an empty file at its path below `.shipped`. One that `ship` began to copy
//! has an empty file with the suffix `.begun` there. Shipped and other segments are not joined with each other: the store
//! would get rows twice, or never. Segments that are being copied stay as they are.

use crate::{Error, durable};
use rocescope_model::{SHIPPED, SHIPPING_SUFFIX};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What a store has of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Nothing.
    Unshipped,
    /// All of it.
    Shipped,
    /// Perhaps all of it.
    Begun,
}

impl State {
    pub(super) fn of(root: &Path, segment: &Path) -> Self {
        let marker = marker(root, segment);
        match marker.exists() {
            true => Self::Shipped,
            false if begun(&marker).exists() => Self::Begun,
            false => Self::Unshipped,
        }
    }
}

/// Whether a segment with this path was shipped, or may have been: no other one may get its name.
pub(crate) fn is_known(root: &Path, segment: &Path) -> bool {
    State::of(root, segment) != State::Unshipped
}

/// Marks a segment as shipped, durably: the store has its rows.
pub(super) fn mark(root: &Path, segment: &Path) -> Result<(), Error> {
    let marker = marker(root, segment);
    let failed = |source| Error::io("write", &marker, source);
    if let Some(directory) = marker.parent() {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    let file = File::create(&marker).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    durable::sync_names(&marker, root)
}

/// Removes the marker of a segment that is gone.
pub(crate) fn unmark(root: &Path, segment: &Path) -> Result<(), Error> {
    durable::remove(&marker(root, segment))
}

fn marker(root: &Path, segment: &Path) -> PathBuf {
    root.join(SHIPPED).join(segment.strip_prefix(root).unwrap_or(segment))
}

fn begun(marker: &Path) -> PathBuf {
    let mut path = marker.as_os_str().to_owned();
    path.push(SHIPPING_SUFFIX);
    path.into()
}
