//! How many files the flight recorder may write and how many bytes, and which earlier ones go for them.

use super::event::{ENDING, is_of};
use crate::notice::{Notice, Notices};
use rocescope_capture::history::SLICE_MAX;
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const HOUR_NS: u64 = 3_600_000_000_000;
/// More than the blocks of one frame have: its own, its comment, and its interface's. A file ends when
/// fewer are left of what may be written.
pub(super) const SLACK_BYTES: u64 = SLICE_MAX as u64 + 512;

/// Why an event has no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Enough files in an hour.
    PerHour = 0,
    /// The files have as many bytes as they may.
    Disk = 1,
    /// An earlier file could not be written.
    Error = 2,
}

/// A file that is whole.
#[derive(Debug)]
struct Finished {
    written: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Files that had to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that should have gone and could not be deleted.
    pub failed: u64,
}

/// What may still be written.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes that all files may have together.
    disk: u64,
    /// Bytes that they have.
    taken: u64,
    /// Finished files, the oldest first, and how many of them are of earlier captures.
    files: VecDeque<Finished>,
    earlier: usize,
    /// Files written longer ago go.
    age: Option<Duration>,
    deleted: Deleted,
    per_hour: usize,
    /// Times of the events that began the files of the last hour, by the clock of the frames.
    begun: VecDeque<u64>,
    notices: Notices,
}

impl Budget {
    /// `disk` bytes for the files in `folder`, those that lie there already among them; of these, `observer`'s may go.
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
            // One that has just gone takes no room.
            if let Ok(metadata) = entry.metadata() {
                if !is_of(&name, observer) {
                    // Somebody may be writing it: it takes room, and stays.
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
            taken: others + files.iter().map(|file| file.bytes).sum::<u64>(),
            earlier: files.len(),
            files: files.into(),
            age,
            deleted: Deleted::default(),
            per_hour,
            begun: VecDeque::new(),
            notices,
        })
    }

    /// Deletes what is too old; it is `now`.
    pub(super) fn retain(&mut self, now: SystemTime) {
        let Some(oldest) = self.age.and_then(|age| now.checked_sub(age)) else {
            return;
        };
        while self.files.front().is_some_and(|file| file.written < oldest) && self.delete_oldest() {
        }
    }

    /// Deletes the oldest file of an earlier capture; whether there was one. This capture's own
    /// stay: of one incident the beginning tells more than the end.
    pub(super) fn make_room(&mut self) -> bool {
        self.earlier > 0 && self.delete_oldest()
    }

    /// What had to go.
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
                self.taken -= file.bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.taken -= file.bytes,
            // It stays, and so does its claim to the room; the next one may go.
            Err(error) => {
                self.notices
                    .send(Notice::NotDeleted(file.path.clone(), error));
                self.deleted.failed += 1;
            }
        }
        self.earlier = self.earlier.saturating_sub(1);
        self.files.pop_front();
        true
    }

    /// Whether a file may begin at this time.
    pub(super) fn begin(&mut self, time_ns: u64) -> Result<(), Refusal> {
        while self
            .begun
            .pop_front_if(|begun| begun.saturating_add(HOUR_NS) <= time_ns)
            .is_some()
        {}
        if self.begun.len() >= self.per_hour {
            return Err(Refusal::PerHour);
        }
        // Last: nothing is deleted for a file that may not begin.
        while self.left() <= SLACK_BYTES {
            if !self.make_room() {
                return Err(Refusal::Disk);
            }
        }
        self.begun.push_back(time_ns);
        Ok(())
    }

    /// Bytes that the file under way may have.
    pub(super) const fn left(&self) -> u64 {
        self.disk.saturating_sub(self.taken)
    }

    /// A file is whole; it is `now`.
    pub(super) fn finish(&mut self, path: PathBuf, bytes: u64, now: SystemTime) {
        self.taken += bytes;
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
    fn there_are_so_many_files_in_any_hour() {
        let folder = tempfile::tempdir().unwrap();
        let mut budget =
            Budget::new((folder.path(), "a"), 1 << 20, None, 2, Notices::default()).unwrap();
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
        // Of another observer, of nobody: they take room, and stay.
        let others = ["0-b-nak.pcapng", "mine.pcapng"].map(|name| folder.path().join(name));
        for other in &others {
            fs::write(other, [0; 500]).unwrap();
        }
        let mut budget =
            Budget::new((folder.path(), "a"), 11_000, None, 9, Notices::default()).unwrap();
        assert_eq!(budget.left(), 7_000);
        assert_eq!(budget.begin(0), Ok(()));
        let own = folder.path().join("own.pcapng");
        budget.finish(own.clone(), 6_500, SystemTime::now());
        assert_eq!(budget.begin(0), Ok(()), "the earlier one goes");
        assert_eq!((old.exists(), budget.left()), (false, 3_500));
        budget.finish(own, 3_200, SystemTime::now());
        assert_eq!(budget.begin(0), Err(Refusal::Disk), "its own stay");
        assert!(others.iter().all(|other| other.exists()));
        let (files, bytes, failed) = (1, 3_000, 0);
        let deleted = Deleted {
            files,
            bytes,
            failed,
        };
        assert_eq!(budget.deleted(), deleted);
    }

    #[test]
    fn a_file_that_cannot_go_keeps_no_other_from_going() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        // No file can be put in the place of a folder, or deleted as one.
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
    fn files_go_when_they_are_too_old() {
        let folder = tempfile::tempdir().unwrap();
        let day = Duration::from_secs(86_400);
        let now = SystemTime::now();
        for (name, age) in [("a-a-jitter.pcapng", 3), ("b-a-jitter.pcapng", 1)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - age * day).unwrap();
        }
        let mut budget = Budget::new(
            (folder.path(), "a"),
            10_000,
            Some(2 * day),
            9,
            Notices::default(),
        )
        .unwrap();
        budget.retain(now);
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!(
            (left("a-a-jitter.pcapng"), left("b-a-jitter.pcapng")),
            (false, true)
        );
        // Those of this capture too, and then they take no room.
        let own = folder.path().join("c-a-jitter.pcapng");
        fs::write(&own, [0; 100]).unwrap();
        budget.finish(own, 100, now);
        budget.retain(now + 3 * day);
        assert_eq!(
            (left("b-a-jitter.pcapng"), left("c-a-jitter.pcapng")),
            (false, false)
        );
        assert_eq!((budget.deleted().files, budget.left()), (3, 10_000));
    }
}
