//! What a command reads: a dataset, or capture files, which become a dataset for as long as the command runs.

use super::input;
use crate::arguments::SpanArguments;
use crate::status::notices;
use anyhow::{Context, Result, bail, ensure};
use rocescope_capture::file::FrameSource;
use rocescope_engine::origin::Origin;
use rocescope_engine::request::{FileSet, udp_ports};
use rocescope_engine::{DatasetRequest, EngineError, IntakeRequest, Session, replay};
use rocescope_model::{ROCE_UDP_PORT, TABLES};
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_runtime::Signals;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Something with rows.
pub(super) struct Readable {
    /// The dataset.
    pub(super) root: PathBuf,
    /// What the user named.
    pub(super) name: String,
    /// Removed when the command ends.
    temporary: Option<TempDir>,
    /// Why a file ended early: what came before it counts.
    error: Option<EngineError>,
}

impl Readable {
    /// Call it after the results are printed, so that none is lost.
    ///
    /// # Errors
    /// A file ended early.
    pub(super) fn check(self) -> Result<()> {
        self.error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Whether it is a dataset that stays.
    pub(super) const fn is_dataset(&self) -> bool {
        self.temporary.is_none()
    }
}

/// Whether these are capture files, or directories of them, and not a dataset.
///
/// # Errors
/// They are both, or several datasets.
fn are_captures(paths: &[PathBuf]) -> Result<bool> {
    let captures = paths.iter().filter(|path| is_capture(path)).count();
    ensure!(
        captures == paths.len() || captures == 0,
        "datasets and capture files in one command: `rocescope capture -r FILE --out DATASET` adds a file to a dataset"
    );
    if captures == 0 && paths.len() > 1 {
        bail!("{} datasets: `rocescope dataset merge` makes one of them", paths.len());
    }
    Ok(captures > 0)
}

/// The capture files among what is named: all of `read`, or `inputs` if they are files; none if a dataset is named.
///
/// # Errors
/// Those of [`are_captures`], or a time is selected, which only a dataset has.
pub(super) fn files<'a>(inputs: &'a [PathBuf], read: &'a [PathBuf], span: &SpanArguments) -> Result<&'a [PathBuf]> {
    if inputs.is_empty() || !are_captures(inputs)? {
        return Ok(read);
    }
    ensure!(
        !span.is_set(),
        "--from, --to and --last select from a dataset, not from capture files"
    );
    Ok(inputs)
}

/// A dataset has a folder for each table.
fn is_capture(path: &Path) -> bool {
    if path == Path::new("-") || path.is_file() {
        return true;
    }
    let has_table = TABLES.iter().any(|table| path.join(table.name).is_dir());
    let has_file = || {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .into_iter()
            .any(|entry| entry.path().is_file() && !entry.file_name().as_encoded_bytes().starts_with(b"."))
    };
    !has_table && has_file()
}

/// What is named: a dataset as it is, capture files read into one.
///
/// # Errors
/// The files cannot be read, or nothing can be written to the folder for temporary files.
pub(super) fn readable(paths: &[PathBuf]) -> Result<Readable> {
    if !are_captures(paths)? {
        let root = paths.first().cloned().unwrap_or_default();
        return Ok(Readable {
            name: root.display().to_string(),
            root,
            temporary: None,
            error: None,
        });
    }
    let folder = tempfile::tempdir().context("no folder for temporary files: set TMPDIR")?;
    let root = folder.path().join("dataset");
    let signals = Signals::install()?;
    let mut files = input::open(paths, &signals)?;
    let mut session = Session::open(&request(&root)?, &Origin::files(&files), &notices())?;
    let ended = replay::replay(&mut files, &mut session, &signals, |_| {});
    let error = match ended {
        Ok(()) => None,
        // Results from before the input error are still valid.
        Err(error @ EngineError::File(_)) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let outcome = session.finish()?;
    outcome.check()?;
    Ok(Readable {
        root,
        name: files.name(),
        temporary: Some(folder),
        error,
    })
}

/// All that a capture file can tell.
fn request(root: &Path) -> Result<IntakeRequest> {
    Ok(IntakeRequest {
        settings: Settings {
            connections: Some(ConnectionSettings::default()),
            verify_icrc: true,
            ..Settings::default()
        },
        udp_ports: udp_ports(&[ROCE_UDP_PORT])?,
        dataset: Some(DatasetRequest {
            root: root.to_owned(),
            segment_age: Duration::from_secs(3_600),
            segment_bytes: u64::MAX,
            keep_age: None,
            keep_bytes: None,
            keep_rollups: None,
            keep_free: Some(0),
        }),
        recorder: None,
        count: None,
        write: None,
        write_set: FileSet::default(),
        keeps_connections: false,
    })
}
