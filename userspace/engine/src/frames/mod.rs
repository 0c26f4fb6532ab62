//! The frames that match the filter: counted up to a limit, and written to pcapng files.
//!
//! | module | what it does |
//! |---|---|
//! | `file_set` | files one after the other, by size and by time, and only the newest |
//! | `counted` | a stream that knows how many bytes went into it |

mod counted;
mod file_set;

use crate::error::{Conflict, EngineError, Result};
use crate::notice::{Notice, Notices};
use crate::request::{FileSet, IntakeRequest};
use file_set::Files;
use rocescope_capture::file::Frame;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What was written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramesSummary {
    /// The file, from whose name those of a set follow; `-` for standard output.
    pub path: PathBuf,
    /// Frames written.
    pub frames: u64,
    /// Files begun.
    pub files: u64,
    /// The oldest of them that were deleted.
    pub deleted_files: u64,
    /// Why writing stopped early.
    pub error: Option<String>,
}

/// Counts and writes the frames that match.
pub(crate) struct FrameOutput {
    /// Frames until the limit, if there is one.
    left: Option<u64>,
    file: Option<FrameFile>,
    is_over: bool,
    notices: Notices,
}

struct FrameFile {
    /// `None` after an error.
    files: Option<Files>,
    is_flushed: bool,
    summary: FramesSummary,
}

impl fmt::Debug for FrameOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameOutput")
            .field("left", &self.left)
            .field("file", &self.file.as_ref().map(|file| &file.summary))
            .finish_non_exhaustive()
    }
}

impl FrameOutput {
    /// Opens the output, if requested. `names` are the interfaces by index.
    ///
    /// # Errors
    /// The file cannot be created, or would reveal anonymized addresses.
    pub(crate) fn open(request: &IntakeRequest, names: &[(u32, String)], notices: &Notices) -> Result<Option<Self>> {
        if request.write.is_some() && request.settings.addresses.is_some() {
            return Err(Conflict::WriteAnonymized.into());
        }
        if request.write.is_none() && request.count.is_none() {
            return Ok(None);
        }
        let file = request
            .write
            .as_ref()
            .map(|path| FrameFile::create(path, request.write_set, names));
        Ok(Some(Self {
            left: request.count,
            file: file.transpose()?,
            is_over: false,
            notices: notices.clone(),
        }))
    }

    /// Counts and writes a frame that matches.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
            self.is_over |= *left == 0;
        }
        if let Some(file) = &mut self.file {
            self.is_over |= file.attempt(&self.notices, |files| files.frame(frame));
            // The writer omits frames of unsupported link layers.
            file.summary.frames += u64::from(file.files.is_some() && frame.link.is_some());
            file.is_flushed = false;
        }
    }

    /// Whether the capture is to end: the limit is reached, or the reader of standard output has gone.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Hands all frames to the reader of the file.
    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && !file.is_flushed
        {
            file.is_flushed = true;
            self.is_over |= file.attempt(&self.notices, Files::flush);
        }
    }

    pub(crate) fn finish(mut self) -> Option<FramesSummary> {
        self.flush();
        self.file.map(|file| file.summary)
    }
}

impl FrameFile {
    fn create(path: &Path, set: FileSet, names: &[(u32, String)]) -> Result<Self> {
        let files = Files::create(path, set, names).map_err(|error| EngineError::FrameFile(path.to_owned(), error))?;
        Ok(Self {
            files: Some(files),
            is_flushed: false,
            summary: FramesSummary {
                path: path.to_owned(),
                frames: 0,
                files: 0,
                deleted_files: 0,
                error: None,
            },
        })
    }

    /// Writes. After an error nothing more is written, but the capture goes on. Returns whether the reader of standard
    /// output has gone.
    fn attempt(&mut self, notices: &Notices, write: impl FnOnce(&mut Files) -> io::Result<()>) -> bool {
        let Some(files) = &mut self.files else { return false };
        let written = write(files);
        (self.summary.files, self.summary.deleted_files) = (files.begun, files.deleted);
        let Err(error) = written else { return false };
        self.files = None;
        let path = self.summary.path.display();
        if error.kind() == io::ErrorKind::BrokenPipe {
            return true;
        }
        notices.send(Notice::Warning(format!(
            "cannot write frames to {path}: {error}; the capture goes on without"
        )));
        self.summary.error = Some(error.to_string());
        false
    }
}
