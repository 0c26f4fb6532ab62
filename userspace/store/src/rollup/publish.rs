//! Gives the segments of a partition their names, all of them or none.
//!
//! The tables of a partition belong together: rows that are added to one and not to the others would be added again, or be
//! left out. So all segments are written first, then a file that lists them, and then they get their names. Who finds the list
//! completes what a kill cut off.

use crate::compact::shipped;
use crate::lock::HourLock;
use crate::name::OPEN;
use crate::{Error, durable};
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The list, in the directory of what is open.
const LIST: &str = "rollup.list";

/// Written segments: where they are, and their names below the resolution's directory.
pub(super) type Written = Vec<(PathBuf, PathBuf)>;

/// Where the segment of a table is written.
pub(super) fn unfinished(target: &Path, table: &str) -> PathBuf {
    target.join(OPEN).join(format!("rollup-{table}.parquet.tmp"))
}

/// Gives all segments their names.
pub(super) fn publish(target: &Path, written: &Written, root: &Path) -> Result<(), Error> {
    let list = target.join(OPEN).join(LIST);
    let draft = list.with_extension("tmp");
    let failed = |source| Error::io("write", &draft, source);
    let mut file = File::create(&draft).map_err(failed)?;
    for (from, to) in written {
        let from = from.file_name().unwrap_or_default().to_string_lossy();
        writeln!(file, "{from} {}", to.display()).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    durable::publish(&draft, &list, root)?;
    complete(target, root)
}

/// Completes what is listed.
pub(super) fn complete(target: &Path, root: &Path) -> Result<(), Error> {
    let list = target.join(OPEN).join(LIST);
    let text = match fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", &list, error)),
    };
    for (from, to) in text.lines().filter_map(|line| line.split_once(' ')) {
        let (from, to) = (target.join(OPEN).join(from), target.join(to));
        if !from.exists() {
            // It has its name already.
            continue;
        }
        let _lock = HourLock::shared(target)?;
        // Before the name has other rows: `ship` must not take them for those that the store has.
        shipped::unmark(target, &to)?;
        durable::move_to(&from, &to, root)?;
    }
    durable::remove(&list)?;
    durable::sync_directory(&target.join(OPEN))
}
