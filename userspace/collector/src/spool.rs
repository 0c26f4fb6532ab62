//! Parcels on disk: rows of an agent that the collector has not acknowledged.
//!
//! A parcel is a file, `<epoch>-<sequence>-<rows>.arrows`, a plain Arrow IPC stream. It is written under
//! another name and renamed, so a kill leaves all of it or nothing. A power failure may cost the last seconds,
//! because the agent syncs nothing. A full spool drops its oldest parcels: recent rows matter more to an operator.

use crate::label::Number;
use crate::{Error, MESSAGE_BYTES, PARCEL_ROWS};
use rocescope_model::Cells;
use rocescope_runtime::clock::now;
use rocescope_store::parcel;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

const END: &str = ".arrows";
const UNFINISHED: &str = ".tmp";
/// Suffix of a parcel that the collector refused.
const REFUSED: &str = ".refused";
/// Refused parcels that a process keeps: the next ones usually have the same fault.
const REFUSED_KEPT: u32 = 16;

/// What a spool holds, and what happened to the rows that left it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Parcels in the spool.
    pub parcels: u64,
    /// Rows in the spool.
    pub rows: u64,
    /// Bytes of the parcels in the spool.
    pub bytes: u64,
    /// Rows acknowledged since the start.
    pub acknowledged_rows: u64,
    /// Rows dropped because the spool was full.
    pub dropped_full_rows: u64,
    /// Rows that could not be written: the disk was full, or failed.
    pub dropped_disk_rows: u64,
    /// Rows of parcels that can no longer be read.
    pub dropped_damaged_rows: u64,
    /// Rows that the collector refused; the first of their parcels stay in the directory, as `.refused`.
    pub refused_rows: u64,
}

/// A bounded directory of parcels. One process at a time.
#[derive(Debug)]
pub struct Spool {
    directory: PathBuf,
    max_bytes: u64,
    epoch: i64,
    state: Mutex<State>,
    /// Something was appended.
    pub(crate) appended: Notify,
    _lock: File,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<Number, Waiting>,
    sequence: i64,
    refused_kept: u32,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    rows: u64,
    bytes: u64,
}

impl Spool {
    /// Opens the directory, creates it if needed, and resumes with the parcels in it.
    ///
    /// # Errors
    /// It cannot be made, read or locked, or another process uses it.
    pub fn open(directory: &Path, max_bytes: u64) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|cause| Error::io("create", directory, cause))?;
        let lock = lock(directory)?;
        let failed = |cause| Error::io("read", directory, cause);
        let mut state = State::default();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.ends_with(UNFINISHED) {
                // Left by a kill in the middle of a write; harmless if it cannot be removed.
                let _ = fs::remove_file(entry.path());
            } else if let Some((number, rows)) = parse(name) {
                let bytes = entry.metadata().map_err(failed)?.len();
                state.add(number, Waiting { rows, bytes });
            }
        }
        let last = state.waiting.last_key_value();
        let after = last.map_or(i64::MIN, |(number, _)| number.epoch + 1);
        let spool = Self {
            directory: directory.to_owned(),
            max_bytes,
            // The time distinguishes an epoch from the earlier ones.
            epoch: now().0.max(after),
            state: Mutex::new(state),
            appended: Notify::new(),
            _lock: lock,
        };
        spool.make_room(&mut spool.state());
        Ok(spool)
    }

    /// Appends rows of one table. Rows that cannot be written are counted and dropped.
    ///
    /// # Errors
    /// A value does not fit its column, or the first reason why rows could not be written.
    pub fn append(&self, cells: &dyn Cells) -> Result<(), Error> {
        let parcels = parcel::encode(cells, PARCEL_ROWS)?;
        let mut state = self.state();
        let mut first = Ok(());
        for (rows, bytes) in parcels {
            let rows = rows as u64;
            if let Err(cause) = self.write(&mut state, rows, &bytes) {
                state.counts.dropped_disk_rows += rows;
                first = first.and(Err(Error::io("write to spool", &self.directory, cause)));
            }
        }
        self.make_room(&mut state);
        drop(state);
        self.appended.notify_one();
        first
    }

    /// What the spool holds, and what happened to the rest.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// The oldest parcel that is younger than this one.
    pub(crate) fn after(&self, number: Option<Number>) -> Option<Number> {
        let from = number.map_or(Bound::Unbounded, Bound::Excluded);
        let state = self.state();
        let mut younger = state.waiting.range((from, Bound::Unbounded));
        younger.next().map(|(number, _)| *number)
    }

    /// The bytes of a parcel; `None` when it is no longer there. An unreadable parcel is dropped.
    pub(crate) fn read(&self, number: Number) -> Option<Vec<u8>> {
        let mut state = self.state();
        let waiting = *state.waiting.get(&number)?;
        let path = self.path(number, waiting.rows, END);
        match fs::read(path) {
            Ok(bytes) if bytes.len() as u64 == waiting.bytes => Some(bytes),
            _ => {
                self.drop_damaged(&mut state, number);
                None
            }
        }
    }

    /// The collector stored it.
    pub(crate) fn acknowledge(&self, number: Number) {
        let mut state = self.state();
        if let Some(rows) = self.remove(&mut state, number) {
            state.counts.acknowledged_rows += rows;
        }
    }

    /// The collector refused it for good: the file stays for troubleshooting.
    pub(crate) fn refuse(&self, number: Number) {
        let mut state = self.state();
        let Some(waiting) = state.take(number) else {
            return;
        };
        state.counts.refused_rows += waiting.rows;
        let name = |end| self.path(number, waiting.rows, end);
        let keep = state.refused_kept < REFUSED_KEPT;
        if keep && fs::rename(name(END), name(REFUSED)).is_ok() {
            state.refused_kept += 1;
        } else {
            let _ = fs::remove_file(name(END));
        }
    }

    /// The file is not a parcel.
    pub(crate) fn damaged(&self, number: Number) {
        self.drop_damaged(&mut self.state(), number);
    }

    fn drop_damaged(&self, state: &mut State, number: Number) {
        if let Some(rows) = self.remove(state, number) {
            state.counts.dropped_damaged_rows += rows;
        }
    }

    fn write(&self, state: &mut State, rows: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > MESSAGE_BYTES / 2 {
            let reason = format!("{rows} rows are {} bytes", bytes.len());
            return Err(io::Error::other(reason));
        }
        let number = Number {
            epoch: self.epoch,
            sequence: state.sequence + 1,
        };
        let unfinished = self.path(number, rows, UNFINISHED);
        let written =
            fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, self.path(number, rows, END)));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        state.sequence += 1;
        let bytes = bytes.len() as u64;
        state.add(number, Waiting { rows, bytes });
        Ok(())
    }

    /// Drops the oldest parcels until the rest fits.
    fn make_room(&self, state: &mut State) {
        while state.counts.bytes > self.max_bytes && state.waiting.len() > 1 {
            let oldest = state.waiting.first_key_value().map(|(number, _)| *number);
            let Some(rows) = oldest.and_then(|number| self.remove(state, number)) else {
                return;
            };
            state.counts.dropped_full_rows += rows;
        }
    }

    /// Removes a parcel and returns its rows.
    fn remove(&self, state: &mut State, number: Number) -> Option<u64> {
        let waiting = state.take(number)?;
        // The agent sends a file that stays once more after its next start; the collector recognises its number.
        let _ = fs::remove_file(self.path(number, waiting.rows, END));
        Some(waiting.rows)
    }

    fn path(&self, number: Number, rows: u64, end: &str) -> PathBuf {
        let Number { epoch, sequence } = number;
        self.directory.join(format!("{epoch:020}-{sequence:012}-{rows}{end}"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, number: Number, waiting: Waiting) {
        self.waiting.insert(number, waiting);
        self.counts.parcels += 1;
        self.counts.rows += waiting.rows;
        self.counts.bytes += waiting.bytes;
    }

    fn take(&mut self, number: Number) -> Option<Waiting> {
        let waiting = self.waiting.remove(&number)?;
        self.counts.parcels -= 1;
        self.counts.rows -= waiting.rows;
        self.counts.bytes -= waiting.bytes;
        Some(waiting)
    }
}

pub(crate) fn lock(directory: &Path) -> Result<File, Error> {
    let path = directory.join("lock");
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|cause| Error::io("create", &path, cause))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Busy {
            path: directory.to_owned(),
        }),
        Err(TryLockError::Error(cause)) => Err(Error::io("lock", &path, cause)),
    }
}

fn parse(name: &str) -> Option<(Number, u64)> {
    let mut words = name.strip_suffix(END)?.split('-');
    let mut word = || words.next()?.parse().ok();
    let number = Number {
        epoch: word()?,
        sequence: word()?,
    };
    let rows = word()?;
    let rows = u64::try_from(rows).ok()?;
    words.next().is_none().then_some((number, rows))
}

#[cfg(test)]
mod tests {
    use super::{Counts, Spool};
    use rocescope_model::ProbeRow;
    use rocescope_store::Parcel;
    use std::path::Path;

    fn rows(count: usize) -> Vec<ProbeRow> {
        vec![ProbeRow::default(); count]
    }

    fn open(directory: &Path) -> Spool {
        Spool::open(directory, 1 << 20).unwrap()
    }

    #[test]
    fn parcels_are_there_in_order_after_a_restart_and_numbers_go_on() {
        let directory = tempfile::tempdir().unwrap();
        let spool = open(directory.path());
        spool.append(&rows(1500)).unwrap();
        assert!(Spool::open(directory.path(), 1).is_err(), "it is in use");
        drop(spool);
        let spool = open(directory.path());
        assert_eq!(spool.counts().rows, 1500);
        spool.append(&rows(1)).unwrap();
        let mut sizes = Vec::new();
        let mut at = None;
        while let Some(number) = spool.after(at) {
            let bytes = spool.read(number).unwrap();
            let rows = Parcel::split(&bytes).unwrap().open().unwrap();
            sizes.push(rows.typed::<ProbeRow>().unwrap().len());
            at = Some(number);
        }
        assert_eq!(sizes, [1024, 476, 1]);
    }

    #[test]
    fn an_empty_spool_never_uses_a_number_twice() {
        let directory = tempfile::tempdir().unwrap();
        let mut numbers = Vec::new();
        for _ in 0..3 {
            let spool = open(directory.path());
            spool.append(&rows(1)).unwrap();
            let number = spool.after(None).unwrap();
            spool.acknowledge(number);
            assert_eq!(spool.counts().acknowledged_rows, 1);
            numbers.push(number);
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }

    #[test]
    fn a_full_spool_drops_its_oldest_and_counts_them() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path(), 20_000).unwrap();
        for _ in 0..50 {
            spool.append(&rows(7)).unwrap();
        }
        let Counts {
            rows,
            bytes,
            dropped_full_rows,
            ..
        } = spool.counts();
        assert!(bytes <= 20_000 && rows > 0 && dropped_full_rows > 0);
        assert_eq!(rows + dropped_full_rows, 350);
        let files = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(files as u64, spool.counts().parcels + 1, "and the lock");
    }

    #[test]
    fn a_parcel_that_was_cut_is_dropped_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        let spool = open(directory.path());
        spool.append(&rows(3)).unwrap();
        let number = spool.after(None).unwrap();
        std::fs::write(spool.path(number, 3, super::END), "").unwrap();
        assert_eq!(spool.read(number), None);
        assert_eq!(spool.counts().dropped_damaged_rows, 3);
        assert_eq!(spool.after(None), None);
    }

    #[test]
    fn a_refused_parcel_is_kept_aside() {
        let directory = tempfile::tempdir().unwrap();
        let spool = open(directory.path());
        spool.append(&rows(3)).unwrap();
        spool.refuse(spool.after(None).unwrap());
        assert_eq!(spool.counts().refused_rows, 3);
        drop(spool);
        assert_eq!(open(directory.path()).counts().parcels, 0);
        let mut names = std::fs::read_dir(directory.path()).unwrap();
        assert!(names.any(|f| f.unwrap().path().extension() == Some("refused".as_ref())));
    }
}
