//! Reads the files that a job wrote.

use crate::commands::collective::files;
use rocescope_collective::job::{LOGS, STEPS, since};
use rocescope_collective::read::nccl_failures;
use rocescope_model::human::visible;
use rocescope_model::{StepRow, Time};
use rocescope_runtime::status;
use std::path::Path;

/// The folders that the job finds below its own.
pub(super) const FOLDERS: [&str; 5] = [LOGS, STEPS[0].0, STEPS[1].0, STEPS[2].0, STEPS[3].0];

/// What the files have.
pub(super) struct Found {
    pub(super) steps: Vec<StepRow>,
    pub(super) failed_transfers: u64,
}

/// Reads all files. What cannot be read is a warning; the others are read.
pub(super) fn read(folder: &Path, observer: &str, started: Time) -> Found {
    let mut steps = Vec::new();
    for (name, reader) in STEPS {
        let mut imported = reader(&list(&folder.join(name)), observer);
        for line in imported.complaints.lines() {
            let path = folder.join(name).display().to_string();
            status!("rocescope: warning: {}/{}", visible(&path), visible(&line));
        }
        since(&mut imported, started.0);
        steps.append(&mut imported.steps);
    }
    // Only how many: the times of the log are those of a place.
    let failures = nccl_failures::read(&list(&folder.join(LOGS)), 0);
    Found {
        steps,
        failed_transfers: failures.all.len() as u64,
    }
}

fn list(folder: &Path) -> Vec<rocescope_collective::read::File> {
    let (files, errors) = files::read_all(folder);
    for error in errors {
        // Names of files may have line breaks.
        status!("rocescope: warning: {}", visible(&format!("{error:#}")));
    }
    files
}
