//! Capture files as input.

use crate::status;
use anyhow::Result;
use rocescope_capture::file::FrameFiles;
use rocescope_engine::{Signals, replay};
use std::path::PathBuf;

/// Opens capture files, and lists those that are skipped on standard error.
pub(super) fn open(paths: &[PathBuf], signals: &Signals) -> Result<FrameFiles> {
    let files = replay::open(paths, signals)?;
    for skipped in files.skipped() {
        status!("rocescope: skipped {skipped}");
    }
    Ok(files)
}
