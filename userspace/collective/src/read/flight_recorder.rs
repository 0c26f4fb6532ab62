//! Dumps of `PyTorch`'s flight recorder (`TORCH_NCCL_TRACE_BUFFER_SIZE`) as JSON, which [`pickle`](super::pickle) makes of those that
//! it writes itself: a file for each rank, with an entry for each collective. Its times are when a watchdog discovered a start or an end, so they are late.

use super::json::{number, objects, text, time};
use super::{File, Imported, complete, nanos};
use crate::{hang, ranks};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{StepRow, Text};
use serde_json::Value;

/// The name of the format in rows.
pub const FORMAT: &str = "flight-recorder";

/// Reads the dumps of all ranks. The rank of a dump is the last number in the name of its file.
#[must_use]
pub fn read(files: &[File], observer: &str) -> Imported {
    let mut all = Imported::default();
    for file in files {
        let digits = |sign: char| sign.is_ascii_digit();
        let stem = file.name.rsplit('/').next().unwrap_or(&file.name);
        let number = stem.split(|sign| !digits(sign)).rfind(|part| !part.is_empty());
        let Some(rank) = number.and_then(|number| number.parse().ok()) else {
            all.complaints
                .add("no rank at the end of its name; skipped", &file.name);
            continue;
        };
        let mut complaints = core::mem::take(&mut all.complaints);
        let mut unread = 0_u64;
        objects(file, &mut complaints, |value| {
            // A dump, or an entry of one that is cut.
            let entries = value.get("entries").and_then(Value::as_array);
            let alone = core::slice::from_ref(value);
            for one in entries.map_or(alone, |entries| entries.as_slice()) {
                match entry(one, rank) {
                    Some(row) => all.steps.push(StepRow {
                        members: members(value, one),
                        // Of a dump that is cut, the last entries may be missing.
                        state: row.state.filter(|_| entries.is_some()),
                        ..row
                    }),
                    None => unread += 1,
                }
            }
        });
        all.complaints.append(complaints);
        if unread > 0 {
            let kind = "entries without `profiling_name`, sequence number or time; skipped";
            all.complaints.add(kind, format!("{}: {unread}", file.name));
        }
    }
    if !all.steps.is_empty() {
        let lack = "this format has no steps, receivers and queue pairs: a row is a rank's part of a collective; starts and \
                    ends are when they were discovered, later than they happened";
        all.complaints.add(lack, FORMAT);
    }
    complete(&mut all, observer, FORMAT);
    all
}

/// The ranks of the group of an entry: of all ranks of the job, those in `pg_config`.
fn members(dump: &Value, entry: &Value) -> Option<Text> {
    let group = group(entry)?;
    let ranks = dump.get("pg_config")?.get(&group)?.get("ranks")?;
    // A list, or one in a string.
    let ranks: Vec<u32> = match ranks {
        Value::String(text) => text
            .split(|sign: char| !sign.is_ascii_digit())
            .filter_map(|rank| rank.parse().ok())
            .collect(),
        ranks => ranks
            .as_array()?
            .iter()
            .filter_map(|rank| u32::try_from(rank.as_u64()?).ok())
            .collect(),
    };
    (!ranks.is_empty()).then(|| ranks::text(ranks.into_iter().collect()).into())
}

fn group(entry: &Value) -> Option<String> {
    match entry.get("process_group") {
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).map(String::from),
        _ => number(entry, "pg_id").map(|id| id.to_string()),
    }
}

/// What is the same at all ranks that call the same collective: types, and the sizes of the operations that need it.
fn signature(entry: &Value, operation: &str) -> Option<Text> {
    // The others have a root, or sizes for each pair.
    const OF_ONE_SIZE: [&str; 3] = ["all_reduce", "reduce_scatter", "all_gather"];
    let types = entry.get("input_dtypes")?.as_array()?;
    let mut text: Vec<&str> = types.iter().filter_map(Value::as_str).collect();
    let sizes = entry.get("input_sizes").map(Value::to_string);
    if let Some(sizes) = &sizes
        && OF_ONE_SIZE.iter().any(|name| operation.contains(name))
    {
        text.push(sizes);
    }
    (!text.is_empty()).then(|| text.join(" ").into())
}

fn entry(value: &Value, rank: u32) -> Option<StepRow> {
    let operation = text(value, "profiling_name")?;
    let is_pair = value.get("is_p2p").and_then(Value::as_bool) == Some(true);
    let sequence = if is_pair { "p2p_seq_id" } else { "collective_seq_id" };
    let sequence = number(value, sequence).or_else(|| number(value, "seq_id"))?;
    let group = group(value);
    // A transfer between two ranks is no collective of its group.
    let state = text(value, "state").filter(|_| !is_pair).and_then(|state| match state {
        "scheduled" => Some(hang::ENQUEUED),
        "started" => Some(hang::STARTED),
        "completed" => Some(hang::COMPLETED),
        _ => None,
    });
    let started = time(value, "time_discovered_started_ns").filter(|ns| *ns > 0);
    let completed = time(value, "time_discovered_completed_ns").filter(|ns| *ns > 0);
    let start = started.or_else(|| time(value, "time_created_ns"))?;
    let measured = value.get("duration_ms").and_then(Value::as_f64).filter(|ms| *ms > 0.0);
    let took = measured.map(|ms| nanos(ms * 1e3));
    let took = took.or_else(|| completed.map(|completed| completed - start));
    Some(StepRow {
        time_ns: start,
        collective: format!("{}:{operation}:{sequence}", group.unwrap_or_default()).into(),
        operation: operation.to_string().into(),
        host: rank.to_string().into(),
        rank: Some(rank),
        step: 1,
        duration_ns: took,
        state: state.map(Text::from_static),
        signature: signature(value, operation),
        ..StepRow::default()
    })
}
