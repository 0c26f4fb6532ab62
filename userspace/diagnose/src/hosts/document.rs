//! The diagnosis of hosts over a time, as text and as JSON: the faults first, then what was analyzed and what is unknown.

use super::{Change, Counts, HostVerdict, Unknown};
use crate::second;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Result, Write};
use rocescope_model::human::{plural, visible};
use rocescope_model::{Unit, Value, human, json};
use serde::Serialize;

/// The content of the output.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// One for each fault, in the order in which they began.
    pub verdicts: Vec<HostVerdict>,
    /// What could not be judged, and why.
    pub unknown: Vec<Unknown>,
    /// What was analyzed.
    #[serde(flatten)]
    pub counts: Counts,
    /// The analyzed time: start of the first window, end of the last.
    pub from_ns: Option<i64>,
    /// Its end.
    pub to_ns: Option<i64>,
    /// The length of a window.
    pub window_ns: i64,
    /// Unreadable files, with the reason.
    pub unreadable_files: Vec<String>,
    /// Journals that are not sealed.
    pub open_segments: usize,
}

impl Document {
    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut out, self);
        out
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json::pretty(self) + "\n"
    }

    /// Faults that have not ended.
    fn open(&self) -> usize {
        let open = self.verdicts.iter().filter(|verdict| verdict.state != Change::Ended);
        open.count()
    }
}

fn write(out: &mut String, diagnosis: &Document) -> Result {
    let judged_nothing = diagnosis.counts.ports == 0 && diagnosis.counts.captured_windows == 0;
    if judged_nothing {
        writeln!(
            out,
            "nothing could be judged: no counters of ports, no captured traffic"
        )?;
    } else if diagnosis.verdicts.is_empty() {
        writeln!(out, "no faults found")?;
    }
    for verdict in &diagnosis.verdicts {
        fault(out, verdict)?;
    }
    writeln!(out)?;
    if let (Some(from), Some(to)) = (diagnosis.from_ns, diagnosis.to_ns) {
        let length = human::readable(&Value::I64(diagnosis.window_ns), Unit::Nanoseconds);
        writeln!(
            out,
            "windows   {} of {length}, {} to {}; {} with captured traffic",
            diagnosis.counts.windows,
            second(from),
            second(to),
            diagnosis.counts.captured_windows
        )?;
    }
    writeln!(out, "ports     {} with counters", diagnosis.counts.ports)?;
    writeln!(
        out,
        "faults    {}, {} of them not over",
        diagnosis.verdicts.len(),
        diagnosis.open()
    )?;
    for unknown in &diagnosis.unknown {
        let places = visible(&unknown.places.join(", "));
        let colon = if places.is_empty() { "" } else { ": " };
        writeln!(out, "unknown   {}: {}{colon}{places}", unknown.what, unknown.reason)?;
    }
    let counts = &diagnosis.counts;
    if counts.late_rows > 0 {
        writeln!(
            out,
            "late      {} after their window was analyzed",
            plural(counts.late_rows, "row")
        )?;
    }
    if counts.crowded_out_rows > 0 {
        let rows = plural(counts.crowded_out_rows, "row");
        writeln!(out, "left out  {rows} of more ports and directions than are followed")?;
    }
    for file in &diagnosis.unreadable_files {
        writeln!(out, "skipped   {file}")?;
    }
    if diagnosis.open_segments > 0 {
        writeln!(
            out,
            "left      {} open segments: in use, or need `rocescope dataset repair`",
            diagnosis.open_segments
        )?;
    }
    Ok(())
}

fn fault(out: &mut String, verdict: &HostVerdict) -> Result {
    writeln!(out, "{}  {}", verdict.class.name(), visible(&verdict.sentence))?;
    let end = match verdict.state {
        Change::Ended => format!("to {}", second(verdict.until_ns)),
        _ => format!("to {} and not over", second(verdict.until_ns)),
    };
    writeln!(
        out,
        "    from {} {end}, {}",
        second(verdict.since_ns),
        plural(verdict.windows, "window")
    )?;
    writeln!(out, "    {}", verdict.confidence)?;
    writeln!(out, "    evidence: {}", visible(&verdict.evidence_text()))?;
    for unknown in &verdict.unknown {
        writeln!(out, "    unknown: {}", visible(unknown))?;
    }
    writeln!(out, "    do: {}", verdict.action)
}
