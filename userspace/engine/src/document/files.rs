//! The capture files of a summary: gaps and overlaps between them.

use rocescope_capture::file::{FileSpan, gaps, overlaps};
use rocescope_model::Time;
use rocescope_model::human::grouped;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Gaps and overlaps in text, at most.
const MAX_LINES: usize = 20;

/// One line for the files, and one for each gap and overlap; nothing for a single file.
#[must_use]
pub fn text(files: &[FileSpan]) -> String {
    if files.len() < 2 {
        return String::new();
    }
    let frames: u64 = files.iter().map(|file| file.frames).sum();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Files     {} read as one capture, in the order of time: {} frames",
        grouped(files.len() as u64),
        grouped(frames)
    );
    let lines = notes(files);
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(text, "          {line}");
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        let _ = writeln!(
            text,
            "          {} more gaps and overlaps: `-o json` lists all",
            grouped(more as u64)
        );
    }
    text
}

/// One sentence for each gap and overlap.
#[must_use]
pub fn notes(files: &[FileSpan]) -> Vec<String> {
    let mut lines = Vec::new();
    for gap in gaps(files) {
        let (before, after) = (gap.before.path.display(), gap.after.path.display());
        lines.push(format!(
            "gap: no frames for {} between {before} and {after}",
            length(gap.ns)
        ));
    }
    for overlap in overlaps(files) {
        let (one, other) = (overlap.one.path.display(), overlap.other.path.display());
        let length = length(overlap.ns);
        lines.push(format!(
            "overlap: {one} and {other} both cover {length}; a frame in both counts twice"
        ));
    }
    lines
}

/// A duration to the millisecond.
fn length(ns: u64) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_millis(ns / 1_000_000))
}

/// The files in the JSON summary.
#[derive(Serialize)]
pub(super) struct FilesDocument<'a> {
    read: Vec<FileDocument<'a>>,
    gaps: Vec<BetweenDocument<'a>>,
    overlaps: Vec<BetweenDocument<'a>>,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    path: Cow<'a, str>,
    frames: u64,
    start: Option<Time>,
    end: Option<Time>,
    error: Option<&'a str>,
}

/// What is between two files.
#[derive(Serialize)]
struct BetweenDocument<'a> {
    files: [Cow<'a, str>; 2],
    ns: u64,
}

impl<'a> FilesDocument<'a> {
    /// `None` for a capture of interfaces.
    pub(super) fn of(files: &'a [FileSpan]) -> Option<Self> {
        if files.is_empty() {
            return None;
        }
        let between = |one: &'a Path, other: &'a Path, ns| BetweenDocument {
            files: [one.to_string_lossy(), other.to_string_lossy()],
            ns,
        };
        Some(Self {
            read: files.iter().map(FileDocument::of).collect(),
            gaps: gaps(files)
                .iter()
                .map(|gap| between(&gap.before.path, &gap.after.path, gap.ns))
                .collect(),
            overlaps: overlaps(files)
                .iter()
                .map(|overlap| between(&overlap.one.path, &overlap.other.path, overlap.ns))
                .collect(),
        })
    }
}

impl<'a> FileDocument<'a> {
    fn of(file: &'a FileSpan) -> Self {
        let time = |ns: u64| (file.frames > 0).then_some(Time(ns.min(i64::MAX as u64) as i64));
        Self {
            path: file.path.to_string_lossy(),
            frames: file.frames,
            start: time(file.first_ns),
            end: time(file.last_ns),
            error: file.error.as_deref(),
        }
    }
}
