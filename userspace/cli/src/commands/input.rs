//! Capture files as input.

use anyhow::{Result, ensure};
use rocescope_capture::file::FrameFiles;
use rocescope_engine::replay;
use rocescope_runtime::Signals;
use rocescope_runtime::status;
use std::path::{Path, PathBuf};

/// Opens capture files, and lists those that are skipped on standard error.
pub(super) fn open(paths: &[PathBuf], signals: &Signals) -> Result<FrameFiles> {
    let files = replay::open(paths, signals)?;
    for skipped in files.skipped() {
        status!("rocescope: skipped {skipped}");
    }
    Ok(files)
}

/// Checks that a file to write is none of the files to read.
pub(super) fn ensure_not_written(files: &FrameFiles, to: Option<&Path>) -> Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    if let Some(to) = to
        && let Some(written) = place(to)
    {
        let is_input = files
            .files()
            .iter()
            .any(|from| place(&from.path).as_ref() == Some(&written));
        ensure!(!is_input, "{} is both input and output", to.display());
    }
    Ok(())
}
