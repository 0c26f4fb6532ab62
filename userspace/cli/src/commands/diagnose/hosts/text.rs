//! The diagnosis as text: the faults first, then what was analyzed and what is unknown.

use super::Diagnosis;
use crate::commands::diagnose::second;
use rocescope_diagnose::hosts::{Change, HostVerdict};
use rocescope_model::human::{plural, visible};
use rocescope_model::{Unit, Value, human};
use std::fmt::Write;

pub(super) fn document(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, diagnosis);
    out
}

fn write(out: &mut String, diagnosis: &Diagnosis) -> std::fmt::Result {
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
            "left      {} open segments: in use, or need `rocescope repair`",
            diagnosis.open_segments
        )?;
    }
    Ok(())
}

fn fault(out: &mut String, verdict: &HostVerdict) -> std::fmt::Result {
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
