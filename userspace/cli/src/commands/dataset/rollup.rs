//! `rocescope dataset rollup`: makes the rows of longer windows.

use crate::arguments::{Output, RollupArguments};
use anyhow::Result;
use rocescope_model::human::{plural, readable};
use rocescope_model::{Time, Unit, Value, json};
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_runtime::clock::now;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(arguments: &RollupArguments) -> Result<ExitCode> {
    let settle_ns = i64::try_from(arguments.settle.as_nanos()).unwrap_or(i64::MAX);
    let settings = Settings {
        ended_before: Time(now().0.saturating_sub(settle_ns)),
        flow_rows: arguments.flow_rows,
    };
    let rolled_up = rollup(&arguments.dataset, settings)?;
    crate::print(&match arguments.output {
        Output::Table => text(&rolled_up)?,
        Output::Json => json::pretty(&document(&rolled_up)) + "\n",
    })?;
    Ok(match rolled_up.damaged.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn text(rolled_up: &RolledUp) -> Result<String, std::fmt::Error> {
    let bytes = |bytes: u64| readable(&Value::I64(i64::try_from(bytes).unwrap_or(i64::MAX)), Unit::Bytes);
    let mut text = String::new();
    for (resolution, made) in &rolled_up.made {
        writeln!(
            text,
            "made     {resolution}: {} in {}, {}, of {} that changed",
            plural(made.rows, "row"),
            plural(made.segments, "segment"),
            bytes(made.bytes),
            plural(made.units, "partition"),
        )?;
    }
    for damaged in &rolled_up.damaged {
        writeln!(text, "damaged  {}: {}", damaged.path.display(), damaged.reason)?;
    }
    for changed in &rolled_up.changed {
        writeln!(
            text,
            "left     {}: it changes, and the next run makes it",
            changed.display()
        )?;
    }
    if rolled_up.too_late > 0 {
        let segments = plural(rolled_up.too_late, "segment");
        writeln!(text, "too late {segments}: what they belong to is deleted")?;
    }
    if text.is_empty() {
        text.push_str("nothing to roll up\n");
    }
    Ok(text)
}

#[derive(Serialize)]
struct Document<'a> {
    made: Vec<Made>,
    damaged: Vec<Damaged<'a>>,
    changed: Vec<String>,
    too_late_segments: u64,
}

#[derive(Serialize)]
struct Made {
    resolution: &'static str,
    partitions: u64,
    segments: u64,
    rows: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Damaged<'a> {
    path: String,
    reason: &'a str,
}

fn document(rolled_up: &RolledUp) -> Document<'_> {
    let made = rolled_up.made.iter().map(|(resolution, made)| Made {
        resolution: resolution.name(),
        partitions: made.units,
        segments: made.segments,
        rows: made.rows,
        bytes: made.bytes,
    });
    let damaged = rolled_up.damaged.iter().map(|damaged| Damaged {
        path: damaged.path.display().to_string(),
        reason: &damaged.reason,
    });
    let changed = rolled_up.changed.iter().map(|path| path.display().to_string());
    Document {
        made: made.collect(),
        damaged: damaged.collect(),
        changed: changed.collect(),
        too_late_segments: rolled_up.too_late,
    }
}
