//! The frames that match the filter: counted up to a limit, and written to a pcapng file.

use crate::error::{Conflict, EngineError, Result};
use crate::notice::{Notice, Notices};
use crate::request::IntakeRequest;
use rocescope_capture::file::{Frame, PcapNgWriter};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What was written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramesSummary {
    /// The file; `-` for standard output.
    pub path: PathBuf,
    /// Frames written.
    pub frames: u64,
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
    writer: Option<PcapNgWriter<BufWriter<Box<dyn Write + Send>>>>,
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
        let file = request.write.as_ref().map(|path| FrameFile::create(path, names));
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
            self.is_over |= file.attempt(&self.notices, |writer| writer.frame(frame, ""));
            // The writer omits frames of unsupported link layers.
            file.summary.frames += u64::from(file.writer.is_some() && frame.link.is_some());
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
            self.is_over |= file.attempt(&self.notices, |writer| writer.out().flush());
        }
    }

    pub(crate) fn finish(mut self) -> Option<FramesSummary> {
        self.flush();
        self.file.map(|file| file.summary)
    }
}

impl FrameFile {
    fn create(path: &Path, names: &[(u32, String)]) -> Result<Self> {
        let at = |error| EngineError::FrameFile(path.to_owned(), error);
        let out: Box<dyn Write + Send> = match path == Path::new("-") {
            true => Box::new(io::stdout()),
            false => Box::new(File::create(path).map_err(at)?),
        };
        let writer = PcapNgWriter::described(BufWriter::new(out), "", names.to_vec()).map_err(at)?;
        Ok(Self {
            writer: Some(writer),
            is_flushed: false,
            summary: FramesSummary {
                path: path.to_owned(),
                frames: 0,
                error: None,
            },
        })
    }

    /// Writes. After an error nothing more is written, but the capture goes on. Returns whether the reader of standard
    /// output has gone.
    fn attempt(
        &mut self,
        notices: &Notices,
        write: impl FnOnce(&mut PcapNgWriter<BufWriter<Box<dyn Write + Send>>>) -> io::Result<()>,
    ) -> bool {
        let Some(Err(error)) = self.writer.as_mut().map(write) else {
            return false;
        };
        self.writer = None;
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
