//! Limits the number and size of recordings, and deletes earlier ones to make room.

use super::event::{ENDING, is_of};
use crate::notice::{Notice, Notices};
use rocescope_capture::history::SLICE_MAX;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const HOUR_NS: u64 = 3_600_000_000_000;
/// More than the size of the blocks of one frame: its own, its comment, and its interface's. A file ends when
/// less room is left.
pub(super) const SLACK_BYTES: u64 = SLICE_MAX as u64 + 512;

/// Why an event has no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The limit of files per hour is reached.
    PerHour = 0,
    /// The limit of bytes is reached.
    Disk = 1,
    /// An earlier file could not be written.
    Error = 2,
}

/// A finished file.
#[derive(Debug)]
struct Finished {
    written: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Deleted files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Their number.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that could not be deleted.
    pub failed: u64,
}

/// The limits, and what is left of them.
#[derive(Debug)]
pub(super) struct Budget {
    /// Maximum total size of the files, in bytes.
    disk: u64,
    /// Their size.
    used: u64,
    /// Finished files, the oldest first, and how many of them are of earlier captures.
    files: VecDeque<Finished>,
    earlier: usize,
    /// Files older than this are deleted.
    age: Option<Duration>,
    deleted: Deleted,
    per_hour: usize,
    /// Times of the events that began the files of the last hour, by the clock of the frames.
    begun: VecDeque<u64>,
    notices: Notices,
}

impl Budget {
    /// `disk` bytes for the files in `folder`, including existing ones; of these, only `observer`'s may be deleted.
    pub(super) fn new(
        (folder, observer): (&Path, &str),
        disk: u64,
        age: Option<Duration>,
        per_hour: usize,
        notices: Notices,
    ) -> io::Result<Self> {
        let (mut files, mut others) = (Vec::new(), 0);
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.ends_with(ENDING) {
                continue;
            }
            // A file that was just deleted needs no room.
            if let Ok(metadata) = entry.metadata() {
                if !is_of(&name, observer) {
                    // Another process may be writing it: it counts, but is not deleted.
                    others += metadata.len();
                    continue;
                }
                files.push(Finished {
                    written: metadata.modified()?,
                    bytes: metadata.len(),
                    path: entry.path(),
                });
            }
        }
        files.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
        Ok(Self {
            disk,
            used: others + files.iter().map(|file| file.bytes).sum::<u64>(),
            earlier: files.len(),
            files: files.into(),
            age,
            deleted: Deleted::default(),
            per_hour,
            begun: VecDeque::new(),
            notices,
        })
    }

    /// Deletes files that are too old at `now`.
    pub(super) fn retain(&mut self, now: SystemTime) {
        let Some(oldest) = self.age.and_then(|age| now.checked_sub(age)) else {
            return;
        };
        while self.files.front().is_some_and(|file| file.written < oldest) && self.delete_oldest() {}
    }

    /// Deletes the oldest file of an earlier capture; returns whether there was one. This capture's own files
    /// remain, because the beginning of an incident matters more than its end.
    pub(super) fn make_room(&mut self) -> bool {
        self.earlier > 0 && self.delete_oldest()
    }

    /// What was deleted.
    pub(super) const fn deleted(&self) -> Deleted {
        self.deleted
    }

    fn delete_oldest(&mut self) -> bool {
        let Some(file) = self.files.front() else {
            return false;
        };
        match fs::remove_file(&file.path) {
            Ok(()) => {
                self.deleted.files += 1;
                self.deleted.bytes += file.bytes;
                self.used -= file.bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.used -= file.bytes,
            // It remains and still counts; try the next one.
            Err(error) => {
                self.notices.send(Notice::NotDeleted(file.path.clone(), error));
                self.deleted.failed += 1;
            }
        }
        self.earlier = self.earlier.saturating_sub(1);
        self.files.pop_front();
        true
    }

    /// Checks whether a file may begin at this time.
    pub(super) fn begin(&mut self, time_ns: u64) -> Result<(), Refusal> {
        while self
            .begun
            .pop_front_if(|begun| begun.saturating_add(HOUR_NS) <= time_ns)
            .is_some()
        {}
        if self.begun.len() >= self.per_hour {
            return Err(Refusal::PerHour);
        }
        // Last, so that nothing is deleted for a file that may not begin.
        while self.left() <= SLACK_BYTES {
            if !self.make_room() {
                return Err(Refusal::Disk);
            }
        }
        self.begun.push_back(time_ns);
        Ok(())
    }

    /// Maximum size of the current file, in bytes.
    pub(super) const fn left(&self) -> u64 {
        self.disk.saturating_sub(self.used)
    }

    /// Counts a file that was finished at `now`.
    pub(super) fn finish(&mut self, path: PathBuf, bytes: u64, now: SystemTime) {
        self.used += bytes;
        self.files.push_back(Finished {
            written: now,
            bytes,
            path,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Deleted, HOUR_NS, Notices, Refusal};
    use std::fs;
    use std::time::{Duration, SystemTime};

    #[test]
    fn the_files_of_any_hour_are_limited() {
        let folder = tempfile::tempdir().unwrap();
        let mut budget = Budget::new((folder.path(), "a"), 1 << 20, None, 2, Notices::default()).unwrap();
        assert_eq!(budget.begin(0), Ok(()));
        assert_eq!(budget.begin(HOUR_NS / 2), Ok(()));
        assert_eq!(budget.begin(HOUR_NS - 1), Err(Refusal::PerHour));
        assert_eq!(budget.begin(HOUR_NS), Ok(()));
        assert_eq!(budget.begin(HOUR_NS + 1), Err(Refusal::PerHour));
    }

    #[test]
    fn files_of_an_earlier_capture_count_and_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("1-a-nak.pcapng");
        fs::write(&old, [0; 3_000]).unwrap();
        fs::write(folder.path().join("other"), [0; 3_000]).unwrap();
        // Of another observer or unknown: they count, but remain.
        let others = ["0-b-nak.pcapng", "mine.pcapng"].map(|name| folder.path().join(name));
        for other in &others {
            fs::write(other, [0; 500]).unwrap();
        }
        let mut budget = Budget::new((folder.path(), "a"), 11_000, None, 9, Notices::default()).unwrap();
        assert_eq!(budget.left(), 7_000);
        assert_eq!(budget.begin(0), Ok(()));
        let own = folder.path().join("own.pcapng");
        budget.finish(own.clone(), 6_500, SystemTime::now());
        assert_eq!(budget.begin(0), Ok(()), "the earlier one is deleted");
        assert_eq!((old.exists(), budget.left()), (false, 3_500));
        budget.finish(own, 3_200, SystemTime::now());
        assert_eq!(budget.begin(0), Err(Refusal::Disk), "its own remain");
        assert!(others.iter().all(|other| other.exists()));
        let (files, bytes, failed) = (1, 3_000, 0);
        let deleted = Deleted { files, bytes, failed };
        assert_eq!(budget.deleted(), deleted);
    }

    #[test]
    fn a_file_that_cannot_be_deleted_does_not_block_others() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        // A directory cannot be deleted as a file.
        fs::create_dir(folder.path().join("1-a-nak.pcapng")).unwrap();
        let old = folder.path().join("2-a-nak.pcapng");
        fs::write(&old, [0; 100]).unwrap();
        let mut budget = Budget::new(
            (folder.path(), "a"),
            10_000,
            Some(Duration::ZERO),
            9,
            Notices::default(),
        )
        .unwrap();
        budget.retain(now + Duration::from_secs(9));
        assert!(!old.exists());
        let (deleted, failed) = (budget.deleted().files, budget.deleted().failed);
        assert_eq!((deleted, failed), (1, 1));
    }

    #[test]
    fn files_are_deleted_when_they_are_too_old() {
        let folder = tempfile::tempdir().unwrap();
        let day = Duration::from_secs(86_400);
        let now = SystemTime::now();
        for (name, age) in [("a-a-jitter.pcapng", 3), ("b-a-jitter.pcapng", 1)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - age * day).unwrap();
        }
        let mut budget = Budget::new((folder.path(), "a"), 10_000, Some(2 * day), 9, Notices::default()).unwrap();
        budget.retain(now);
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!((left("a-a-jitter.pcapng"), left("b-a-jitter.pcapng")), (false, true));
        // Files of this capture too, and then they do not count.
        let own = folder.path().join("c-a-jitter.pcapng");
        fs::write(&own, [0; 100]).unwrap();
        budget.finish(own, 100, now);
        budget.retain(now + 3 * day);
        assert_eq!((left("b-a-jitter.pcapng"), left("c-a-jitter.pcapng")), (false, false));
        assert_eq!((budget.deleted().files, budget.left()), (3, 10_000));
    }
}
