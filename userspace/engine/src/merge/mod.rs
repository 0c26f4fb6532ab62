//! Merges the datasets of several boxes and hosts: windows one by one, other tables by copying their rows.

pub mod other_tables;

use rocescope_model::{EventRow, FlowRow, OpcodeRow, Row, SpreadRow, Text, Time, WindowRow};
use rocescope_pipeline::merge::{Differs, MergeError, Parameters, Part, Target, merge_window};
use rocescope_store::{Rows, Scan, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why datasets are not merged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A segment cannot be read or written.
    #[error(transparent)]
    Store(#[from] rocescope_store::Error),
    /// The output has the windows already.
    #[error(
        "{} already holds the window of {observer} at {time}: a merge was killed, or ran before. Remove the directory, \
         or name another one",
        out.display()
    )]
    Merged {
        /// The output.
        out: PathBuf,
        /// The merged observer.
        observer: Text,
        /// Start of the window.
        time: Time,
    },
    /// Captures had different parameters.
    #[error("{}: {cause}", path.display())]
    Parameters {
        /// A segment.
        path: PathBuf,
        /// What differs.
        cause: Differs,
    },
    /// The parts of a window do not belong together.
    #[error("the window at {time}: {cause}")]
    Window {
        /// Start of the window.
        time: Time,
        /// The reason.
        cause: MergeError,
    },
    /// Two datasets have the same rows.
    #[error(
        "{} and {} have the same rows in `{table}`: name each dataset once, and write each measurement into one of them",
        root.display(),
        other.display()
    )]
    Repeated {
        /// A dataset.
        root: PathBuf,
        /// The other one.
        other: PathBuf,
        /// The table.
        table: &'static str,
    },
    /// The output has the rows already.
    #[error(
        "{} already holds rows of {} in `{table}`: a merge was killed, or ran before. Remove the directory, or name \
         another one",
        out.display(),
        root.display()
    )]
    Copied {
        /// The output.
        out: PathBuf,
        /// A dataset.
        root: PathBuf,
        /// The table.
        table: &'static str,
    },
}

/// Refuses a merge that was killed, or that ran before: its windows would be stored twice.
///
/// # Errors
/// There is one, or a segment cannot be read.
pub fn refuse_merged(scans: &[Scan], out: &Path, observer: &Text) -> Result<(), Error> {
    let merged = rocescope_store::scan(out)?;
    let mut starts = Rows::<WindowRow>::of(std::slice::from_ref(&merged)).timeline()?;
    let mut windows = Rows::<WindowRow>::of(scans).timeline()?;
    while let (Some(ours), Some(start_ns)) = (starts.next_ns(), windows.next_ns()) {
        if ours < start_ns {
            starts.take(ours)?;
        } else if start_ns < ours {
            windows.take(start_ns)?;
        } else {
            windows.take(start_ns)?;
            let rows = starts.take(ours)?;
            if rows.iter().any(|(_, row)| row.observer == *observer) {
                return Err(Error::Merged {
                    out: out.to_owned(),
                    observer: observer.clone(),
                    time: Time(start_ns),
                });
            }
        }
    }
    Ok(())
}

/// The parameters that the segments of all captures share; `None` without a capture.
///
/// # Errors
/// They differ.
pub fn parameters(scans: &[Scan]) -> Result<Option<Parameters>, Error> {
    let mut merged: Option<Parameters> = None;
    for segment in scans.iter().flat_map(|scan| scan.table(WindowRow::TABLE.name)) {
        let these = Parameters::of(|key| segment.footer(key));
        match &mut merged {
            None => merged = Some(these),
            Some(merged) => merged.join(&these).map_err(|cause| Error::Parameters {
                path: segment.path.clone(),
                cause,
            })?,
        }
    }
    Ok(merged)
}

/// Copies the events, as those of the merged observer.
///
/// They come before `windows`: the store guarantees that a window there is complete in every table.
///
/// # Errors
/// A segment cannot be read or written.
pub fn events(scans: &[Scan], observer: &Text, writer: &mut Writer) -> Result<(), Error> {
    for rows in Rows::<EventRow>::of(scans).columns(|_| true).batches() {
        let mut rows = rows?;
        rows.iter_mut().for_each(|row| row.observer.clone_from(observer));
        writer.append_cells(&rows, Instant::now())?;
    }
    Ok(())
}

/// Merges window by window; returns their number.
///
/// # Errors
/// A segment cannot be read or written, or the parts of a window do not belong together.
pub fn windows(scans: &[Scan], target: &Target, writer: &mut Writer) -> Result<u64, Error> {
    let mut windows = Rows::<WindowRow>::of(scans).columns(|_| true).timeline()?;
    let mut flows = Rows::<FlowRow>::of(scans).columns(|_| true).timeline()?;
    let mut opcodes = Rows::<OpcodeRow>::of(scans).columns(|_| true).timeline()?;
    let mut spread = Rows::<SpreadRow>::of(scans).columns(|_| true).timeline()?;
    let mut merged = 0;
    while let Some(start_ns) = windows.next_ns() {
        // By dataset and observer.
        let mut parts: BTreeMap<(usize, String), Part> = BTreeMap::new();
        for (dataset, row) in windows.take(start_ns)? {
            let part = parts.entry((dataset, row.observer.as_str().to_owned())).or_default();
            part.windows.push(row);
        }
        for (dataset, row) in flows.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.flows.push(row);
            }
        }
        for (dataset, row) in opcodes.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.opcodes.push(row);
            }
        }
        for (dataset, row) in spread.take(start_ns)? {
            if let Some(part) = parts.get_mut(&(dataset, row.observer.as_str().to_owned())) {
                part.spread.push(row);
            }
        }
        let parts: Vec<Part> = parts.into_values().collect();
        let rows = merge_window(&parts, target).map_err(|cause| Error::Window {
            time: Time(start_ns),
            cause,
        })?;
        writer.append(&rows, Instant::now())?;
        merged += 1;
    }
    Ok(merged)
}
