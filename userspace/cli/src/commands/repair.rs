//! `rocescope repair`: seals the journals that a killed capture left.

use crate::arguments::RepairArguments;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(arguments: &RepairArguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    ensure!(root.is_dir(), "{} is not a directory", root.display());
    let repaired = rocescope_store::repair(root)?;
    let mut text = String::new();
    for segment in &repaired.segments {
        let (path, rows) = (segment.path.display(), segment.rows);
        writeln!(
            text,
            "sealed   {path}: {rows} rows, {} incomplete bytes dropped",
            segment.torn_bytes
        )?;
    }
    for segment in &repaired.converted {
        let (path, rows) = (segment.path.display(), segment.rows);
        writeln!(text, "converted {path}: {rows} rows, from format {}", segment.from)?;
    }
    for path in &repaired.removed {
        writeln!(text, "removed  {}: no complete window", path.display())?;
    }
    for damaged in &repaired.damaged {
        writeln!(
            text,
            "damaged  {}: {}; what is whole of it is sealed, and the journal is kept there",
            damaged.path.display(),
            damaged.reason
        )?;
    }
    for observer in &repaired.busy {
        writeln!(text, "left     journals of {observer}: in use by a running process")?;
    }
    for unreadable in &repaired.unreadable {
        writeln!(text, "skipped  {}: {}", unreadable.path.display(), unreadable.reason)?;
    }
    if text.is_empty() {
        // The error of a folder without a dataset.
        rocescope_store::open(root)?;
        text.push_str("nothing to repair\n");
    }
    crate::print(&text)?;
    Ok(match repaired.damaged.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
