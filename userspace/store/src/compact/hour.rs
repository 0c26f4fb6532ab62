//! The directory of an hour: a new one is written, then both are exchanged in one step.

use super::JoinedHour;
use super::group::{Group, has_journal};
use super::join::Join;
use super::shipped::{self, State};
use crate::lock::HourLock;
use crate::name::{COMPACT, FIRST_JOINED, SegmentName};
use crate::schema::Indexes;
use crate::seal::write_segment;
use crate::{Error, durable, schema};
use rocescope_model::Table;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An hour of a table.
#[derive(Debug)]
pub(super) struct Hour<'a> {
    root: &'a Path,
    table: &'static Table,
    partition: &'a str,
    /// What readers list.
    pub(super) directory: PathBuf,
    /// What readers list after the exchange.
    made: PathBuf,
}

/// A joined segment in the new directory.
struct Joined {
    rows: u64,
    bytes: u64,
}

impl<'a> Hour<'a> {
    pub(super) fn new(root: &'a Path, table: &'static Table, partition: &'a str) -> Self {
        let below = Path::new(table.name).join(partition);
        Self {
            root,
            table,
            partition,
            directory: root.join(&below),
            made: root.join(COMPACT).join(below),
        }
    }

    /// Replaces the parts of each group by one segment; `None` if another process changed the hour meanwhile, which then
    /// remains as it is.
    ///
    /// # Errors
    /// A segment cannot be read or written, or the directories cannot be exchanged. The hour remains as it is.
    pub(super) fn replace(&self, groups: &[Group]) -> Result<Option<JoinedHour>, Error> {
        let parts = || groups.iter().flat_map(|group| &group.parts);
        let names: BTreeSet<OsString> = parts().map(|part| part.name.file().into()).collect();
        let exchanged = self.prepare(groups).and_then(|joined| {
            let is_exchanged = self.exchange(groups, &names)?;
            Ok(is_exchanged.then_some(joined))
        });
        let Ok(Some(joined)) = exchanged else {
            // Report the first error.
            let _ = fs::remove_dir_all(&self.made);
            return exchanged;
        };
        self.rescue(&names)?;
        durable::sync_names(&self.directory, self.root)?;
        durable::sync_names(&self.made, self.root)?;
        for part in parts() {
            shipped::unmark(self.root, &part.segment.path)?;
        }
        Ok(Some(joined))
    }

    /// Writes the joined segments into the new directory.
    fn prepare(&self, groups: &[Group]) -> Result<JoinedHour, Error> {
        fs::create_dir_all(&self.made).map_err(|source| Error::io("create", &self.made, source))?;
        let parts = || groups.iter().flat_map(|group| &group.parts);
        let mut hour = JoinedHour {
            table: self.table.name,
            partition: self.partition.into(),
            replaced: parts().count() as u64,
            replaced_bytes: parts().map(|part| part.segment.bytes).sum(),
            segments: 0,
            bytes: 0,
            rows: 0,
        };
        for group in groups {
            let joined = self.join(group)?;
            hour.segments += 1;
            hour.bytes += joined.bytes;
            hour.rows += joined.rows;
        }
        Ok(hour)
    }

    fn join(&self, group: &Group) -> Result<Joined, Error> {
        let name = self.free_name(group);
        let path = self.made.join(&name);
        if group.state == State::Shipped {
            // Before the segment is there: `ship` must not take it for a new one.
            shipped::mark(self.root, &self.directory.join(&name))?;
        }
        let schema = Arc::new(schema::arrow(self.table, &group.footer));
        let rows = Join::new(self.table, Arc::clone(&schema), group);
        let (rows, bytes) = write_segment(&path, (schema, Indexes::Addresses), rows, || {})?;
        let expected: u64 = group.parts.iter().map(|part| part.segment.rows).sum();
        if rows != expected {
            let reason = format!("its segments have {expected} rows, but {rows} were read");
            return Err(Error::content("join", &self.directory, &reason));
        }
        Ok(Joined { rows, bytes })
    }

    /// The name of a joined segment: that of its first part, with another number.
    fn free_name(&self, group: &Group) -> String {
        let name = |number| {
            let first = group.parts.first().map(|part| part.name.numbered(number));
            first.as_ref().map(SegmentName::file).unwrap_or_default()
        };
        let is_free = |name: &String| {
            let path = self.directory.join(name);
            !(path.exists() || self.made.join(name).exists() || shipped::is_known(self.root, &path))
        };
        let mut names = (FIRST_JOINED..u32::MAX).map(name);
        names.find(is_free).unwrap_or_default()
    }

    /// Exchanges the directories; false if the hour has changed.
    fn exchange(&self, groups: &[Group], names: &BTreeSet<OsString>) -> Result<bool, Error> {
        let _lock = HourLock::exclusive(self.root)?;
        let Some(others) = self.others(names)? else {
            return Ok(false);
        };
        let is_same = groups.iter().all(|group| {
            group.parts.iter().all(|part| {
                let path = &part.segment.path;
                State::of(self.root, path) == group.state && !has_journal(self.root, self.table, &part.name)
            })
        });
        if !is_same {
            return Ok(false);
        }
        for other in &others {
            let (from, to) = (self.directory.join(other), self.made.join(other));
            match fs::hard_link(&from, &to) {
                // Retention deleted it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                linked => linked.map_err(|source| Error::io("link", &from, source))?,
            }
        }
        durable::sync_directory(&self.made)?;
        renameat_with(CWD, &self.made, CWD, &self.directory, RenameFlags::EXCHANGE)
            .map_err(|error| not_exchanged(&self.directory, error.into()))?;
        Ok(true)
    }

    /// The names in the hour beside those of the parts; `None` if a part is gone, or if there is a directory.
    fn others(&self, parts: &BTreeSet<OsString>) -> Result<Option<Vec<OsString>>, Error> {
        let failed = |source| Error::io("read directory", &self.directory, source);
        let mut others = Vec::new();
        let mut found = 0;
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                return Ok(None);
            }
            match parts.contains(&entry.file_name()) {
                true => found += 1,
                false => others.push(entry.file_name()),
            }
        }
        Ok((found == parts.len()).then_some(others))
    }

    /// Moves a file that a program other than rocescope made between the listing and the exchange.
    fn rescue(&self, parts: &BTreeSet<OsString>) -> Result<(), Error> {
        let failed = |source| Error::io("read directory", &self.made, source);
        for entry in fs::read_dir(&self.made).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let (from, to) = (self.made.join(&name), self.directory.join(&name));
            if !parts.contains(&name) && !to.exists() {
                fs::rename(&from, &to).map_err(|source| Error::io("rename to", &to, source))?;
            }
        }
        Ok(())
    }
}

fn not_exchanged(directory: &Path, error: io::Error) -> Error {
    let reason = "this file system cannot exchange two directories in one step: ext4, XFS, Btrfs and tmpfs can";
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Error::content("compact", directory, &reason),
        _ => Error::io("exchange", directory, error),
    }
}

/// Removes what was replaced, and what a killed run left.
pub(super) fn remove_replaced(root: &Path) -> Result<(), Error> {
    let compact = root.join(COMPACT);
    let failed = |source| Error::io("remove", &compact, source);
    for table in fs::read_dir(&compact).map_err(failed)? {
        fs::remove_dir_all(table.map_err(failed)?.path()).map_err(failed)?;
    }
    Ok(())
}
