//! Which rows answer for a time: captured ones, or those of rollups.

use crate::Error;
use crate::incidents::history::stored;
use rocescope_diagnose::incidents::Document;
use rocescope_model::{Resolution, Time, footer};
use rocescope_runtime::clock::now;
use rocescope_store::query::Answered;
use rocescope_store::rollup::answer;
use rocescope_store::{Query, Scan, TimeRange};
use std::path::Path;

/// Opens a dataset at this time: rows of rollups in place of captured ones, up to the resolution that was asked for or
/// that fits the length of the time. `wide` is the time with what is read around it.
///
/// # Errors
/// The dataset cannot be read, or has no rollups of this resolution.
pub fn open(root: &Path, time: TimeRange, wide: TimeRange, asked: Option<Resolution>) -> Result<Scan, Error> {
    let coarsest = match asked {
        Some(asked) => asked,
        None => answer::for_time(root, time, now())?,
    };
    Ok(answer::open(root, &Query::default().within(wide), coarsest)?)
}

/// Whether all rows were captured. A rollup that is read by its path has none that were.
#[must_use]
pub fn is_captured(found: &Scan) -> bool {
    let mut answered = found.answered.iter();
    let mut segments = found.segments.iter();
    answered.all(|part| part.resolution == Resolution::Captured)
        && segments.all(|segment| segment.footer(footer::ROLLUP).is_none())
}

/// Which rows answer for which time, as text; nothing if all were captured.
#[must_use]
pub fn answered(found: &Scan) -> Vec<String> {
    if is_captured(found) {
        return Vec::new();
    }
    let instant = |time: Option<Time>, open: &str| time.map_or(open.into(), |time| format!("{time:.0}"));
    let part = |part: &Answered| {
        let from = instant(part.time.from, "the beginning");
        let to = instant(part.time.to, "the end");
        format!("{} from {from} to {to}", part.resolution)
    };
    found.answered.iter().map(part).collect()
}

/// The incidents of a time that rollups answer for. Analyses need what was captured: seconds show what an hour hides. So they are
/// those that the dataset keeps.
///
/// # Errors
/// The dataset cannot be read.
pub fn kept_incidents(root: &Path, time: TimeRange) -> Result<Document, Error> {
    let incidents = stored(root, time)?;
    // Without any, the dataset was perhaps never judged.
    let judged = match incidents.is_empty() {
        true => Vec::new(),
        false => vec!["the table `incidents` of the dataset".into()],
    };
    Ok(Document {
        incidents,
        judged,
        notes: vec![
            "rows of rollups are not judged: incidents that were not stored, by a running capture, a collector or `diagnose --write`, are \
             missing; `--resolution 1s` judges what is left of the captured rows"
                .into(),
        ],
        sampled_one_of: None,
    })
}
