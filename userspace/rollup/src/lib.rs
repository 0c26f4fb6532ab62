//! Rollups of a dataset: rows of 1 minute, 1 hour and 1 day, each from those of the resolution before.
//!
//! The store knows what is due and replaces segments ([`rocescope_store::rollup`]); the pipeline merges windows with
//! their flows and sketches ([`merge_time`](rocescope_pipeline::merge::merge_time)). This crate joins them: it reads the
//! rows of a unit, and makes those of the rollup.
//!
//! | module | which tables |
//! |---|---|
//! | `traffic` | `windows`, `flows`, `opcodes`, `spread`: window by window, with sketches and bounds |
//! | `objects` | other tables that are merged: by the object that a row is about |
//! | [`verify`] | compares the sums of each resolution with those of the finer one |
//! | `kept` | tables whose rows stay as they are |

mod kept;
mod objects;
mod traffic;
pub mod verify;

use rocescope_model::{Resolution, Time};
use rocescope_store::rollup::{Made, Sink, Task, Unit};
use rocescope_store::{Error, Rollups, Unreadable};
use std::path::{Path, PathBuf};

/// How rollups are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Of hours that ended at or before this instant.
    pub ended_before: Time,
    /// Rows of `flows` in a window, at most.
    pub flow_rows: usize,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolledUp {
    /// What was made, by resolution; without those of which nothing was due.
    pub made: Vec<(Resolution, Made)>,
    /// Segments that are damaged, of the dataset and of its rollups.
    pub damaged: Vec<Unreadable>,
    /// Partitions of which a segment vanished meanwhile, or whose last windows are not sealed yet: a later run makes them.
    pub changed: Vec<PathBuf>,
    /// Segments that came after retention deleted what their rollup was made of: they are in none.
    pub too_late: u64,
}

/// Makes the rollups of a dataset that are due, one partition after the other: memory does not grow with their number. A
/// damaged segment leaves out what needs it, and no more.
///
/// # Errors
/// [`Error::NoDirectory`], [`Error::NoDataset`], [`Error::RollingUp`]; the disk is full or fails. What was made before remains,
/// and the next run continues.
pub fn rollup(root: &Path, settings: Settings) -> Result<RolledUp, Error> {
    let rollups = Rollups::lock(root)?;
    let mut all = RolledUp::default();
    for resolution in Resolution::ROLLED_UP {
        let mut sum = Made::default();
        for start in rollups.partitions(resolution)? {
            let due = rollups.due(resolution, start, settings.ended_before)?;
            all.damaged.extend(due.damaged);
            all.too_late += due.too_late;
            all.changed.extend(due.unsealed);
            for task in &due.tasks {
                match rollups.write(task, &mut |unit, sink| make(unit, settings, sink)) {
                    Ok(made) if made.changed => all.changed.push(partition(root, task)),
                    Ok(made) => {
                        sum.segments += made.segments;
                        sum.bytes += made.bytes;
                        sum.rows += made.rows;
                        sum.units += made.units;
                        all.damaged.extend(made.damaged);
                    }
                    Err(error) => all.damaged.push(Unreadable::of(&error).ok_or(error)?),
                }
            }
        }
        if sum.units > 0 {
            all.made.push((resolution, sum));
        }
    }
    Ok(all)
}

fn partition(root: &Path, task: &Task) -> PathBuf {
    rocescope_store::rollup::directory(root, task.resolution).join(task.start.to_string())
}

/// Makes the rows of a unit in every table.
fn make(unit: &Unit<'_>, settings: Settings, sink: &mut Sink) -> Result<(), Error> {
    traffic::make(unit, settings.flow_rows, sink)?;
    objects::make(unit, sink)?;
    kept::make(unit, sink)
}

#[cfg(test)]
mod tests {
    use rocescope_model::{Rollup, TABLES};

    #[test]
    fn every_merged_table_is_merged() {
        for table in TABLES {
            let is_made = super::traffic::TABLES.contains(table) || super::objects::TABLES.contains(table);
            assert_eq!(is_made, matches!(table.rollup, Rollup::Merged { .. }), "{}", table.name);
        }
    }
}
