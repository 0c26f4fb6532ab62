//! The origin of the frames of a dataset, and the dataset that a capture writes.

use crate::error::EngineError;
use crate::request::DatasetRequest;
use rocescope_capture::file::{FrameFiles, FrameSource};
use rocescope_model::{CAPTURE_TABLES, STEP_CAPTURE_TABLES, footer};
use rocescope_pipeline::flow_table::FLOW_HASH_SEED;
use rocescope_pipeline::{COUNT_MIN_DEPTH, COUNT_MIN_WIDTH, LINEAR_COUNTING_BITS, Settings};
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::reserve::Reserve;
use rocescope_runtime::retention::Retention;
use rocescope_store::Options;
use std::path::Path;

/// The origin of the frames of a dataset: part of the footer of every segment.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Names of interfaces, or a file.
    pub source: String,
    /// How frames are captured.
    pub mode: String,
    /// The clock of their timestamps.
    pub clock_source: &'static str,
}

impl Origin {
    /// A capture file, or standard input as `-`.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        let is_pipe = path == Path::new("-");
        Self {
            source: path.display().to_string(),
            mode: if is_pipe { "stdin" } else { "file" }.into(),
            clock_source: "file",
        }
    }

    /// One or several capture files.
    #[must_use]
    pub fn files(files: &FrameFiles) -> Self {
        Self::file(Path::new(&files.name()))
    }

    /// Whether the frames come from a file, which can be read again.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.mode == "file"
    }

    /// Whether the frames were recorded before, so that the dataset may have them already.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        matches!(self.mode.as_str(), "file" | "stdin")
    }

    /// The options of a writer, with the metadata of every segment.
    #[must_use]
    pub fn options(&self, settings: &Settings) -> Options {
        let pair = |key: &str, value: String| (key.to_owned(), value);
        let sampling = settings
            .mirror_sampling
            .map(|one_of| pair(footer::MIRROR_SAMPLING, one_of.to_string()));
        let mut metadata = vec![
            pair(footer::SOURCE, self.source.clone()),
            pair(footer::MODE, self.mode.clone()),
            pair(footer::CLOCK_SOURCE, self.clock_source.into()),
            pair(footer::WINDOW_NS, settings.window_ns.to_string()),
            pair(footer::ELEPHANT_BPS, settings.elephant_bps.to_string()),
            pair(footer::FLOW_HASH_SEED, FLOW_HASH_SEED.to_string()),
            pair(footer::LINEAR_COUNTING_BITS, LINEAR_COUNTING_BITS.to_string()),
            pair(footer::COUNT_MIN_DEPTH, COUNT_MIN_DEPTH.to_string()),
            pair(footer::COUNT_MIN_WIDTH, COUNT_MIN_WIDTH.to_string()),
            pair(footer::COUNT_MIN_CONSERVATIVE, "false".into()),
        ];
        metadata.extend(sampling);
        Options {
            metadata,
            tables: match &settings.connections {
                Some(connections) if connections.steps => STEP_CAPTURE_TABLES,
                _ => CAPTURE_TABLES,
            },
            ..Options::new(&*settings.observer)
        }
    }
}

/// Creates the dataset of `request`.
///
/// # Errors
/// Those of [`Dataset::open`].
pub(crate) fn create(request: &DatasetRequest, origin: &Origin, settings: &Settings) -> Result<Dataset, EngineError> {
    let options = Options {
        max_age: request.segment_age,
        max_bytes: request.segment_bytes,
        ..origin.options(settings)
    };
    let retention = Retention {
        root: request.root.clone(),
        age: request.keep_age,
        bytes: request.keep_bytes,
        ..Retention::default()
    }
    .with_rollups(request.keep_rollups.as_ref());
    let reserve = Reserve::new(&request.root, request.keep_free);
    Dataset::open(options, retention, Some(reserve)).map_err(EngineError::Store)
}
