//! Which segments of a dataset and of its rollups are deleted, by age and by size.

use crate::clock;
use crate::reserve::Reserve;
use rocescope_model::{Resolution, Time};
use rocescope_store::rollup::directory;
use rocescope_store::{Error, Limits, Retained, retain, retain_read};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

pub use crate::rolling::Rolling;

/// The rollups that a dataset gets while it grows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepRollups {
    /// Delete those of a resolution whose partition ended longer ago; others remain.
    pub ages: Vec<(Resolution, Duration)>,
    /// Rows of `flows` in a window, at most.
    pub flow_rows: usize,
}

/// The limits of a dataset; without limits, everything is kept.
#[derive(Debug, Default)]
pub struct Retention {
    /// The dataset.
    pub root: PathBuf,
    /// Delete segments whose hour ended longer ago.
    pub age: Option<Duration>,
    /// Delete the oldest segments above this total, those of the finest resolution first.
    pub bytes: Option<u64>,
    /// What has been deleted so far.
    pub gone: Retained,
    /// Its rollups; see [`with_rollups`](Self::with_rollups).
    pub rollups: Option<Rolling>,
}

impl Retention {
    /// Makes rollups too, and deletes them by their ages.
    #[must_use]
    pub fn with_rollups(mut self, keep: Option<&KeepRollups>) -> Self {
        self.rollups = keep.map(Rolling::new);
        self
    }

    /// Makes the rollups that are due, and deletes segments beyond the limits.
    ///
    /// # Errors
    /// Those of [`retain()`].
    pub fn apply(&mut self) -> Result<(), Error> {
        let Some(rollups) = &mut self.rollups else {
            if let Some(age) = self.age {
                self.delete(Resolution::Captured, older_than(before_now(age)), None)?;
            }
            return self.bytes.map_or(Ok(()), |bytes| self.shrink(bytes));
        };
        rollups.run(&self.root, Instant::now());
        // The rollups of what is deleted come first; only for the reserve there is no time.
        let Some(covered) = rollups.covered() else {
            return Ok(());
        };
        let ages = rollups.keep.ages.clone();
        if let Some(age) = self.age {
            let limits = older_than(before_now(age).min(covered.until));
            self.delete(Resolution::Captured, limits, Some(covered.read))?;
        }
        for (resolution, age) in ages {
            // A run makes one resolution after another, and none is running.
            self.delete(resolution, older_than(before_now(age)), None)?;
        }
        self.bytes.map_or(Ok(()), |bytes| self.shrink(bytes))
    }

    /// Returns why the last rollup ended early, once.
    pub fn take_fault(&mut self) -> Option<Error> {
        self.rollups.as_mut()?.fault.take()
    }

    /// Deletes the oldest segments until the reserve is free, if there are limits.
    ///
    /// # Errors
    /// [`Error::NoSpace`] if the reserve is not free, and those of [`retain()`].
    pub fn make_room(&mut self, reserve: &Reserve) -> Result<(), Error> {
        let missing = reserve.missing_bytes();
        if missing == 0 {
            return Ok(());
        }
        if self.age.is_some() || self.bytes.is_some() {
            let all: u64 = self.kept()?.iter().map(|(_, bytes)| bytes).sum();
            self.shrink(all.saturating_sub(missing))?;
        }
        match reserve.missing_bytes() {
            0 => Ok(()),
            _ => Err(reserve.error()),
        }
    }

    /// The bytes of each resolution, the finest first.
    fn kept(&self) -> Result<Vec<(Resolution, u64)>, Error> {
        let there = Resolution::ALL.into_iter();
        let there = there.filter(|resolution| directory(&self.root, *resolution).is_dir());
        let bytes = |resolution| {
            let kept = retain(&directory(&self.root, resolution), Limits::default())?;
            Ok((resolution, kept.kept_bytes))
        };
        there.map(bytes).collect()
    }

    /// Deletes the oldest segments of the finest resolution, then of the next, until all have at most this many bytes.
    fn shrink(&mut self, bytes: u64) -> Result<(), Error> {
        let mut kept = self.kept()?;
        for at in 0..kept.len() {
            let all: u64 = kept.iter().map(|(_, bytes)| bytes).sum();
            if all <= bytes {
                break;
            }
            let (resolution, own) = kept[at];
            let limits = Limits {
                older_than: None,
                max_bytes: Some(bytes.saturating_sub(all - own)),
            };
            kept[at].1 = self.delete(resolution, limits, None)?;
        }
        Ok(())
    }

    /// Returns the bytes that remain. With an instant, only segments that were written before it are deleted.
    fn delete(&mut self, resolution: Resolution, limits: Limits, read: Option<SystemTime>) -> Result<u64, Error> {
        let directory = directory(&self.root, resolution);
        if !directory.is_dir() {
            return Ok(0);
        }
        let gone = match read {
            Some(read) => retain_read(&directory, limits, read)?,
            None => retain(&directory, limits)?,
        };
        self.gone.deleted_segments += gone.deleted_segments;
        self.gone.deleted_bytes += gone.deleted_bytes;
        if resolution == Resolution::Captured {
            self.gone.kept_bytes = gone.kept_bytes;
            self.gone.waiting_segments = gone.waiting_segments;
        }
        Ok(gone.kept_bytes)
    }
}

const fn older_than(time: Time) -> Limits {
    Limits {
        older_than: Some(time),
        max_bytes: None,
    }
}

/// The time `age` ago.
fn before_now(age: Duration) -> Time {
    let age_ns = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
    Time(clock::now().0.saturating_sub(age_ns).max(0))
}

#[cfg(test)]
mod tests {
    use super::{KeepRollups, Retention};
    use rocescope_model::time::{HOUR_NS, SECOND_NS};
    use rocescope_model::{Resolution, Time, WindowRow, WindowRows};
    use rocescope_store::rollup::directory;
    use rocescope_store::{Options, Writer, scan};
    use rocescope_testkit::until;
    use std::path::Path;
    use std::time::{Duration, Instant};

    /// Ten hours of 2026-11-21, long ago or not.
    fn write(root: &Path) {
        let mut writer = Writer::create(root, Options::new("rail3")).unwrap();
        for hour in 0..10 {
            let start = 1_763_683_200 * SECOND_NS + hour * HOUR_NS;
            let row = WindowRow {
                observer: "rail3".into(),
                window_start: Time(start),
                window_start_ns: start,
                window_ns: SECOND_NS,
                frames: 1,
                ..WindowRow::default()
            };
            let rows = WindowRows {
                windows: vec![row],
                ..WindowRows::default()
            };
            writer.append(&rows, Instant::now()).unwrap();
        }
        writer.finish().unwrap();
    }

    fn frames(root: &Path, resolution: Resolution) -> u64 {
        let rows: Vec<WindowRow> = scan(&directory(root, resolution)).unwrap().rows().unwrap();
        rows.iter().map(|row| row.frames).sum()
    }

    fn keep(ages: &[(Resolution, Duration)]) -> KeepRollups {
        KeepRollups {
            ages: ages.to_vec(),
            flow_rows: 1_000,
        }
    }

    /// Rows that are too old at the start are rolled up before they are deleted.
    #[test]
    fn each_resolution_has_its_age() {
        let root = tempfile::tempdir().unwrap();
        write(root.path());
        let minute = (Resolution::Minute, Duration::from_secs(3_600));
        let hour = (Resolution::Hour, Duration::from_secs(86_400 * 36_500));
        let mut retention = Retention {
            root: root.path().to_owned(),
            age: Some(Duration::from_secs(60)),
            ..Retention::default()
        }
        .with_rollups(Some(&keep(&[minute, hour])));
        until("the rows are rolled up and deleted", || {
            retention.apply().unwrap();
            let fault = retention.take_fault();
            assert!(fault.is_none(), "{fault:?}");
            frames(root.path(), Resolution::Captured) == 0
        });
        let left = Resolution::ALL.map(|resolution| frames(root.path(), resolution));
        assert_eq!(left, [0, 0, 10, 10]);

        // Rows that come late wait for the next run, however old they are.
        write(root.path());
        retention.apply().unwrap();
        assert_eq!(frames(root.path(), Resolution::Captured), 10);
    }

    #[test]
    fn a_bound_in_bytes_gives_up_the_finest_first() {
        let root = tempfile::tempdir().unwrap();
        write(root.path());
        let settings = rocescope_rollup::Settings {
            ended_before: Time(i64::MAX),
            flow_rows: 1,
        };
        rocescope_rollup::rollup(root.path(), settings).unwrap();
        let bytes = |retention: &Retention| {
            retention
                .kept()
                .unwrap()
                .iter()
                .map(|(_, bytes)| *bytes)
                .collect::<Vec<u64>>()
        };
        let mut retention = Retention {
            root: root.path().to_owned(),
            ..Retention::default()
        };
        let all = bytes(&retention);
        let total: u64 = all.iter().sum();
        for (bound, expected) in [
            (total, [10, 10, 10, 10]),
            (total - 1, [9, 10, 10, 10]),
            (1, [1, 1, 10, 10]),
        ] {
            retention.bytes = Some(bound);
            retention.apply().unwrap();
            let left = Resolution::ALL.map(|resolution| frames(root.path(), resolution));
            assert_eq!(left, expected, "{all:?} {bound}");
        }
    }
}
