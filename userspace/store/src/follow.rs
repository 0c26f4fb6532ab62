//! Follows a dataset that grows: the rows of finished windows, a moment after their writer passed them to the kernel.
//!
//! A running writer appends to journals and seals them: [`Query`](crate::Query) reads sealed segments, a [`Follower`]
//! both, each row once. It reads `windows` before it lists the other tables, and writers append that row last: what
//! belongs to a window that it returns is returned with it.

use crate::batches::Batches;
use crate::decode::Decoded;
use crate::name::{Partition, SegmentPaths};
use crate::scan::read_segment;
use crate::walk::{self, Found};
use crate::{Batch, Error};
use arrow_array::RecordBatch;
use rocescope_model::tables::find;
use rocescope_model::{Column, Row, Table, Time, Type, WindowRow};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::slice;

/// A dataset is listed at most this often until nothing of it vanishes meanwhile.
const LISTS: u32 = 10;

/// Reads a dataset while others write it.
#[derive(Debug)]
pub struct Follower {
    root: PathBuf,
    tables: Vec<&'static str>,
    /// What was read of journals, by the path of the segment that each becomes.
    journals: HashMap<PathBuf, Read>,
    /// Segments whose rows are read, with their table and hour.
    sealed: HashMap<PathBuf, (String, String)>,
    /// Batches and segments that could not be decoded.
    unreadable: u64,
}

/// What was read of a journal.
#[derive(Debug, Clone, Copy, Default)]
struct Read {
    position: u64,
    rows: usize,
}

impl Follower {
    /// Follows these tables of the dataset at `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: &Path, tables: &[&'static Table]) -> Self {
        Self {
            root: root.to_owned(),
            tables: tables.iter().map(|table| table.name).collect(),
            journals: HashMap::new(),
            sealed: HashMap::new(),
            unreadable: 0,
        }
    }

    /// Passes the rows that were added since the last call to `take`, without sketches, a batch at a time: all of them at
    /// once would take several times the memory of what a reader keeps. Of segments that end before `since`, which never
    /// goes back, it reads none.
    ///
    /// # Errors
    /// Directories or files cannot be read. Nothing is lost: the next call tries again.
    pub fn poll(&mut self, since: Time, mut take: impl FnMut(Batch)) -> Result<(), Error> {
        let is_window = |table: &str| table == WindowRow::TABLE.name;
        self.read(since, is_window, &mut take)?;
        self.read(since, |table| !is_window(table), &mut take)?;
        self.forget(since);
        Ok(())
    }

    /// Returns how many batches and segments could not be decoded; their rows are missing.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    fn read(
        &mut self,
        since: Time,
        is_table: impl Fn(&str) -> bool,
        take: &mut impl FnMut(Batch),
    ) -> Result<(), Error> {
        let tables = std::mem::take(&mut self.tables);
        let is_wanted = |table: &str| tables.contains(&table) && is_table(table);
        let mut lists = 1;
        let mut read = self.read_listed(since, &is_wanted, take);
        while lists < LISTS && read.as_ref().is_ok_and(|is_whole| !is_whole) {
            read = self.read_listed(since, &is_wanted, take);
            lists += 1;
        }
        self.tables = tables;
        read.map(drop)
    }

    /// Returns false if a file vanished before it was read: what it became is in the next list.
    fn read_listed(
        &mut self,
        since: Time,
        is_wanted: &impl Fn(&str) -> bool,
        take: &mut impl FnMut(Batch),
    ) -> Result<bool, Error> {
        if !self.root.is_dir() {
            return Ok(true);
        }
        // A journal that is sealed between the two lists is in both.
        let mut journals = walk::leftovers(&self.root)?;
        journals.retain(|leftover| leftover.journal && is_wanted(&leftover.place.table));
        let is_hour = |hour: &str| Partition::parse(hour).is_none_or(|hour| hour.last_ns() >= since.0);
        let found = walk::segments_of(&self.root, is_wanted, |_| true, is_hour)?;
        let mut is_whole = self.read_segments(since, is_wanted, found, take)?;
        for journal in journals {
            if !self.sealed.contains_key(&journal.place.sealed()) {
                is_whole &= self.read_journal(&journal.place, take)?;
            }
        }
        Ok(is_whole)
    }

    fn read_segments(
        &mut self,
        since: Time,
        is_wanted: &impl Fn(&str) -> bool,
        found: Vec<Found>,
        take: &mut impl FnMut(Batch),
    ) -> Result<bool, Error> {
        let listed: HashSet<&Path> = found.iter().map(|segment| segment.path.as_path()).collect();
        // Compaction replaces the segments of an hour: others with the same rows.
        let gone = self.sealed.iter();
        let gone = gone.filter(|(path, (table, _))| is_wanted(table) && !listed.contains(path.as_path()));
        let gone: Vec<(PathBuf, (String, String))> = gone.map(|(path, of)| (path.clone(), of.clone())).collect();
        let mut is_whole = true;
        for segment in found {
            if self.sealed.contains_key(&segment.path) {
                continue;
            }
            let of = (segment.table.clone(), segment.partition.clone());
            let path = segment.path.clone();
            let is_known = gone.iter().any(|(_, hour)| *hour == of);
            if !is_known && !self.read_segment(since, segment, take)? {
                is_whole = false;
                continue;
            }
            self.journals.remove(&path);
            self.sealed.insert(path, of);
        }
        gone.iter().for_each(|(path, _)| drop(self.sealed.remove(path)));
        Ok(is_whole)
    }

    /// Reads the rows of a segment that were not read from its journal; false if it is gone.
    fn read_segment(&mut self, since: Time, found: Found, take: &mut impl FnMut(Batch)) -> Result<bool, Error> {
        let read = self.journals.get(&found.path).copied().unwrap_or_default();
        let segment = match read_segment(found) {
            Ok(segment) => segment,
            Err(None) => return Ok(false),
            Err(Some(_)) => {
                self.unreadable += 1;
                return Ok(true);
            }
        };
        let ends_before = segment.bounds.time_ns.is_some_and(|(_, last)| last < since.0);
        if ends_before || segment.rows <= read.rows as u64 {
            return Ok(true);
        }
        let mut rows = Vec::new();
        for batch in segment.undamaged(|column| !is_sketch(column), slice::from_ref(&(read.rows..usize::MAX)))? {
            rows.push(batch?);
        }
        match segment.health.fault() {
            Some(_) if !segment.path.exists() => return Ok(false),
            Some(_) => self.unreadable += 1,
            None => {}
        }
        rows.into_iter().for_each(take);
        Ok(true)
    }

    /// Reads the whole batches that a journal got since the last call; false if it is gone.
    fn read_journal(&mut self, place: &SegmentPaths, take: &mut impl FnMut(Batch)) -> Result<bool, Error> {
        let Some(table) = find(&place.table) else {
            return Ok(true);
        };
        let mut journal = match Batches::open(&place.journal()) {
            Ok(journal) => journal,
            Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let read = self.journals.entry(place.sealed()).or_default();
        journal.skip_to(read.position)?;
        while let Some(batch) = journal.next_written()? {
            // At once: what follows may not be readable.
            read.rows += batch.num_rows();
            read.position = read.position.max(journal.position());
            match decoded(table, &batch) {
                Some(batch) => take(batch),
                None => self.unreadable += 1,
            }
        }
        read.position = read.position.max(journal.position());
        Ok(true)
    }

    /// Forgets hours that are over.
    fn forget(&mut self, since: Time) {
        let is_over = |hour: &str| Partition::parse(hour).is_some_and(|hour| hour.last_ns() < since.0);
        self.sealed.retain(|_, (_, hour)| !is_over(hour));
        self.journals.retain(|path, _| {
            let hour = path.parent().and_then(|hour| hour.strip_prefix(&self.root).ok());
            let hour = hour.map(|hour| hour.components().skip(1).collect::<PathBuf>());
            !hour.is_some_and(|hour| is_over(&hour.to_string_lossy()))
        });
    }
}

fn is_sketch(column: &Column) -> bool {
    column.kind == Type::Bytes
}

/// A batch of a journal, without its sketches, which are packed; `None` if it has other columns than the table.
fn decoded(table: &'static Table, batch: &RecordBatch) -> Option<Batch> {
    let columns = table.columns.iter().map(|column| match is_sketch(column) {
        true => Some(Decoded::Missing),
        false => Decoded::new(column, batch.column_by_name(column.name)?),
    });
    Some(Batch::new(table, columns.collect::<Option<_>>()?, batch.num_rows()))
}
