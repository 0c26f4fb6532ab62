//! The rows of a job in the dataset.

use super::names::Names;
use anyhow::Result;
use rocescope_model::{RUN_TABLES, RunRow, StepRow};
use rocescope_store::{Error, Options, Writer};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Another job of this host may store its rows at the same moment.
const TRIES: u32 = 100;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Opens the dataset for rows of the job.
pub(super) fn open(root: &Path, names: &Names) -> Result<Writer> {
    let mut left = TRIES;
    loop {
        let options = Options {
            tables: RUN_TABLES,
            ..Options::new(&names.observer)
        };
        match Writer::create(root, options) {
            Err(Error::Busy { .. }) if left > 0 => {
                left -= 1;
                sleep(BETWEEN_TRIES);
            }
            result => return Ok(result?),
        }
    }
}

/// Adds rows.
pub(super) fn append(writer: &mut Writer, run: RunRow, steps: &[StepRow]) -> Result<()> {
    writer.append_tables(&[&vec![run], &steps], Instant::now())?;
    Ok(())
}

/// Seals what was added.
pub(super) fn seal(writer: Writer) -> Result<()> {
    writer.finish()?;
    Ok(())
}
