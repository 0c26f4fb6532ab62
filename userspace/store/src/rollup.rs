//! Rollups: datasets of longer windows below a dataset, made from its sealed segments.
//!
//! `rollups/1m`, `rollups/1h` and `rollups/1d` have the tables and the layout of the dataset itself. This module knows
//! which segments a rollup is made of, when it is due, and how it is replaced; its caller makes the rows.
//!
//! A *unit* is one partition of the finer resolution and one writer: its rows in the rollup are a function of its segments,
//! which the footer of the rollup lists. A unit whose segments have changed is made again: late rows came, or
//! compaction replaced them. Of a unit from which retention has deleted segments, the rows stay, and what comes later is
//! merged into them.
//!
//! A segment of a rollup is written beside the dataset and gets its name in one step, in place of the one before. A kill
//! leaves the one or the other; the list in its footer shows the next run what is left to do.
//!
//! | module | what it does |
//! |---|---|
//! | [`answer`] | which rows answer for which time |
//! | `due` | which units are due |
//! | `inputs` | the list of segments in a footer |
//! | `unsealed` | which units have windows that are not sealed yet |
//! | `publish` | gives the segments of a partition their names, all or none |
//! | `write` | makes the segments of a partition |

pub mod answer;
mod due;
mod inputs;
mod publish;
mod unsealed;
mod write;

pub use due::{Due, Task};
pub use write::{Sink, Unit};

use crate::lock::RollupLock;
use crate::name::Partition;
use crate::{Error, Query, Segment, Unreadable};
use rocescope_model::{ROLLUPS, Resolution, Time, footer};
use std::path::{Path, PathBuf};

/// Returns the directory of a resolution.
#[must_use]
pub fn directory(root: &Path, resolution: Resolution) -> PathBuf {
    match resolution {
        Resolution::Captured => root.to_owned(),
        _ => root.join(ROLLUPS).join(resolution.name()),
    }
}

/// The times of units whose windows are all there in the finer resolution, and as they are in this one.
///
/// # Errors
/// The directories cannot be read.
pub fn whole_units(root: &Path, resolution: Resolution) -> Result<Vec<(Time, Time)>, Error> {
    due::whole(root, resolution)
}

/// The times of units that are not made, or not of what is there now.
pub(crate) fn stale(root: &Path, resolution: Resolution) -> Result<Vec<(i64, i64)>, Error> {
    let due = due::due(root, resolution, &due::ALWAYS, Time(i64::MAX))?;
    // A rollup that is extended has more than the finer rows: what these were made of is gone.
    let units = due
        .tasks
        .iter()
        .flat_map(|task| &task.units)
        .filter(|unit| !unit.extends);
    Ok(units.map(|unit| (unit.from.0, unit.to.0)).collect())
}

/// The partitions of the finer resolution that a segment of a rollup has the rows of.
pub(crate) fn partitions(segment: &Segment) -> impl Iterator<Item = Partition> + use<> {
    let inputs = inputs::parse(segment.footer(footer::ROLLUP_INPUTS).unwrap_or_default());
    let mut partitions: Vec<Partition> = inputs
        .iter()
        .filter_map(|input| Partition::parse(&input.partition))
        .collect();
    partitions.dedup();
    partitions.into_iter()
}

/// The rollups of a dataset, locked: one process at a time makes them.
#[derive(Debug)]
pub struct Rollups {
    root: PathBuf,
    _lock: RollupLock,
}

/// The result of writing a partition of a rollup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    /// Segments that were written.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their rows.
    pub rows: u64,
    /// Units in them that were made or changed.
    pub units: u64,
    /// Segments whose rows are missing because they are damaged.
    pub damaged: Vec<Unreadable>,
    /// Whether a segment vanished meanwhile, and nothing was written.
    pub changed: bool,
}

impl Rollups {
    /// Locks the rollups of a dataset.
    ///
    /// # Errors
    /// [`Error::NoDirectory`], [`Error::NoDataset`]; [`Error::RollingUp`] if another process has the lock.
    pub fn lock(root: &Path) -> Result<Self, Error> {
        Query::default().tables(&[]).open(root)?;
        let root = root.to_owned();
        match RollupLock::acquire(&root)? {
            Some(lock) => {
                for resolution in Resolution::ROLLED_UP {
                    publish::complete(&directory(&root, resolution), &root)?;
                }
                Ok(Self { root, _lock: lock })
            }
            None => Err(Error::RollingUp { root }),
        }
    }

    /// Returns the partitions of a resolution of which the finer one has rows, the oldest first: their starts.
    ///
    /// # Errors
    /// The directories cannot be read.
    pub fn partitions(&self, resolution: Resolution) -> Result<Vec<Time>, Error> {
        Ok(due::partitions(&self.root, resolution)?.into_iter().collect())
    }

    /// Returns what is due of such a partition, of hours, or days, that ended at or before this instant.
    ///
    /// # Errors
    /// The directories cannot be read.
    pub fn due(&self, resolution: Resolution, start: Time, ended_before: Time) -> Result<Due, Error> {
        let (start, end) = resolution.partition(start);
        due::due(&self.root, resolution, &(start.0..end.0), ended_before)
    }

    /// Writes a partition with the rows that `make` adds for each of its units, in order.
    ///
    /// # Errors
    /// Those of `make`; a segment cannot be read or written. The rollup remains as it is, or parts of it are new.
    pub fn write(
        &self,
        task: &Task,
        make: &mut dyn FnMut(&Unit<'_>, &mut Sink) -> Result<(), Error>,
    ) -> Result<Made, Error> {
        write::write(&self.root, task, make)
    }
}
