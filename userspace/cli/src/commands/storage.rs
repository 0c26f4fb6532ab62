//! Datasets that grow: their retention, and the room that they leave.

use crate::arguments::RetentionArguments;
use anyhow::Result;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::not_stored::NotStored;
use rocescope_runtime::reserve::Reserve;
use rocescope_runtime::retention::Retention;
use rocescope_runtime::status;
use rocescope_store::Options;
use std::path::Path;
use std::sync::Arc;

/// Which segments of a dataset are deleted.
pub(super) fn retention(root: &Path, arguments: &RetentionArguments) -> Retention {
    Retention {
        root: root.to_owned(),
        age: arguments.keep_age,
        bytes: arguments.keep_bytes,
        ..Retention::default()
    }
}

/// Opens a dataset to write to, and what it counts when the disk is full; reports damage of an earlier run.
pub(super) fn open(root: &Path, arguments: &RetentionArguments, options: Options) -> Result<(Dataset, Arc<NotStored>)> {
    let options = Options {
        max_age: arguments.segment_age,
        ..options
    };
    let reserve = Reserve::new(root, arguments.keep_free);
    let dataset = Dataset::open(options, retention(root, arguments), Some(reserve))?;
    dataset.report_damage(&status::notice);
    let not_stored = dataset.not_stored();
    Ok((dataset, not_stored))
}
