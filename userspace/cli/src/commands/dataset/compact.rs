//! `rocescope dataset compact`: joins the small segments of hours that are over.

use crate::arguments::{CompactArguments, Output};
use anyhow::Result;
use rocescope_model::human::{plural, readable};
use rocescope_model::{TABLES, Time, Unit, Value, json};
use rocescope_runtime::clock::now;
use rocescope_store::{Compacted, Compaction, compact};
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

/// Between the replacement of segments and their removal: a reader that has just listed them opens them within.
const GRACE: Duration = Duration::from_secs(10);

pub(super) fn run(arguments: &CompactArguments) -> Result<ExitCode> {
    let settle_ns = i64::try_from(arguments.settle.as_nanos()).unwrap_or(i64::MAX);
    let what = Compaction {
        ended_before: Time(now().0.saturating_sub(settle_ns)),
        max_bytes: arguments.segment_bytes,
    };
    let compacted = compact(&arguments.dataset, &what, || sleep(GRACE))?;
    crate::print(&match arguments.output {
        Output::Table => text(&compacted)?,
        Output::Json => json::pretty(&document(&compacted)) + "\n",
    })?;
    Ok(match compacted.damaged.as_slice() {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// What was joined of a table.
#[derive(Debug, Default, Serialize)]
struct Joined {
    table: &'static str,
    hours: u64,
    rows: u64,
    replaced_segments: u64,
    replaced_bytes: u64,
    segments: u64,
    bytes: u64,
}

fn by_table(compacted: &Compacted) -> Vec<Joined> {
    let tables = TABLES.iter().map(|table| {
        let mut all = Joined {
            table: table.name,
            ..Joined::default()
        };
        for hour in compacted.hours.iter().filter(|hour| hour.table == table.name) {
            all.hours += 1;
            all.rows += hour.rows;
            all.replaced_segments += hour.replaced;
            all.replaced_bytes += hour.replaced_bytes;
            all.segments += hour.segments;
            all.bytes += hour.bytes;
        }
        all
    });
    tables.filter(|joined| joined.hours > 0).collect()
}

fn text(compacted: &Compacted) -> Result<String, std::fmt::Error> {
    let bytes = |bytes: u64| readable(&Value::I64(i64::try_from(bytes).unwrap_or(i64::MAX)), Unit::Bytes);
    let mut text = String::new();
    for joined in by_table(compacted) {
        writeln!(
            text,
            "joined   {}: {} into {}, {} into {}, {} in {}",
            joined.table,
            plural(joined.replaced_segments, "segment"),
            joined.segments,
            bytes(joined.replaced_bytes),
            bytes(joined.bytes),
            plural(joined.rows, "row"),
            plural(joined.hours, "hour"),
        )?;
    }
    for damaged in &compacted.damaged {
        writeln!(text, "damaged  {}: {}", damaged.path.display(), damaged.reason)?;
    }
    for changed in &compacted.changed {
        writeln!(text, "left     {}: it changed meanwhile", changed.display())?;
    }
    if text.is_empty() {
        text.push_str("nothing to compact\n");
    }
    Ok(text)
}

#[derive(Serialize)]
struct Document<'a> {
    joined: Vec<Joined>,
    damaged: Vec<Damaged<'a>>,
    changed: Vec<String>,
}

#[derive(Serialize)]
struct Damaged<'a> {
    path: String,
    reason: &'a str,
}

fn document(compacted: &Compacted) -> Document<'_> {
    let damaged = compacted.damaged.iter().map(|damaged| Damaged {
        path: damaged.path.display().to_string(),
        reason: &damaged.reason,
    });
    let changed = compacted.changed.iter().map(|path| path.display().to_string());
    Document {
        joined: by_table(compacted),
        damaged: damaged.collect(),
        changed: changed.collect(),
    }
}
