//! How many files the flight recorder may write, and how many bytes.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::Path;

const HOUR_NS: u64 = 3_600_000_000_000;
/// End of the name of every file.
pub(super) const ENDING: &str = ".pcapng";

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

/// What may still be written.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes that the files may still take.
    left: u64,
    per_hour: usize,
    /// Times of the events that began the files of the last hour, by the clock of the frames.
    begun: VecDeque<u64>,
}

impl Budget {
    /// `disk` bytes for the files in `folder`, those that lie there already among them.
    pub(super) fn new(folder: &Path, disk: u64, per_hour: usize) -> io::Result<Self> {
        let mut left = disk;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(ENDING) {
                // One that has just gone takes no room.
                left = left.saturating_sub(entry.metadata().map_or(0, |metadata| metadata.len()));
            }
        }
        Ok(Self {
            left,
            per_hour,
            begun: VecDeque::new(),
        })
    }

    /// Whether a file may begin at this time.
    pub(super) fn begin(&mut self, time_ns: u64) -> Result<(), Refusal> {
        if self.left <= super::recording::SLACK_BYTES {
            return Err(Refusal::Disk);
        }
        while self
            .begun
            .pop_front_if(|begun| begun.saturating_add(HOUR_NS) <= time_ns)
            .is_some()
        {}
        if self.begun.len() >= self.per_hour {
            return Err(Refusal::PerHour);
        }
        self.begun.push_back(time_ns);
        Ok(())
    }

    pub(super) const fn left(&self) -> u64 {
        self.left
    }

    pub(super) const fn spend(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, HOUR_NS, Refusal};
    use std::fs;

    #[test]
    fn there_are_so_many_files_in_any_hour() {
        let folder = tempfile::tempdir().unwrap();
        let mut budget = Budget::new(folder.path(), 1 << 20, 2).unwrap();
        assert_eq!(budget.begin(0), Ok(()));
        assert_eq!(budget.begin(HOUR_NS / 2), Ok(()));
        assert_eq!(budget.begin(HOUR_NS - 1), Err(Refusal::PerHour));
        assert_eq!(budget.begin(HOUR_NS), Ok(()));
        assert_eq!(budget.begin(HOUR_NS + 1), Err(Refusal::PerHour));
    }

    #[test]
    fn files_of_an_earlier_capture_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old.pcapng"), [0; 3_000]).unwrap();
        fs::write(folder.path().join("other"), [0; 3_000]).unwrap();
        let mut budget = Budget::new(folder.path(), 10_000, 9).unwrap();
        assert_eq!(budget.left(), 7_000);
        assert_eq!(budget.begin(0), Ok(()));
        budget.spend(6_500);
        assert_eq!(budget.begin(0), Err(Refusal::Disk));
    }
}
