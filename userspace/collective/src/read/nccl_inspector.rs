//! The lines of NCCL Inspector (`NCCL_INSPECTOR_ENABLE=1`): a JSON object for each collective of a rank. With
//! `NCCL_INSPECTOR_DUMP_VERBOSE=1` it has the kernel of each channel. Times are microseconds.

use super::json::{number, objects, small, text, time};
use super::{File, Imported, complete, nanos};
use alloc::format;
use alloc::string::ToString;
use rocescope_model::StepRow;
use serde_json::Value;

/// The name of the format in rows.
pub const FORMAT: &str = "nccl-inspector";

/// Reads the files of all processes.
#[must_use]
pub fn read(files: &[File], observer: &str) -> Imported {
    let mut all = Imported::default();
    for file in files {
        let mut complaints = core::mem::take(&mut all.complaints);
        let (mut unread, mut others) = (0_u64, 0_u64);
        objects(file, &mut complaints, |value| {
            let is_pair = value.get("p2p_perf").is_some();
            match collective(value, &mut all) {
                Some(()) => {}
                None if is_pair => others += 1,
                None => unread += 1,
            }
        });
        all.complaints.append(complaints);
        if unread > 0 {
            let kind = "objects without `header`, `metadata` or `coll_perf`; skipped";
            all.complaints.add(kind, format!("{}: {unread}", file.name));
        }
        if others > 0 {
            let kind = "sends and receives, which are no collectives; skipped";
            all.complaints.add(kind, format!("{}: {others}", file.name));
        }
    }
    if !all.steps.is_empty() {
        let lack = "this format has no steps, receivers and queue pairs: a row is a rank's part of a collective, or a \
                    channel of it; without NCCL_INSPECTOR_DUMP_VERBOSE=1 its end is the time of the dump";
        all.complaints.add(lack, FORMAT);
    }
    complete(&mut all, observer, FORMAT);
    all
}

fn collective(value: &Value, all: &mut Imported) -> Option<()> {
    let (header, metadata, perf) = (value.get("header")?, value.get("metadata")?, value.get("coll_perf")?);
    let rank = small(header, "rank")?;
    let operation = text(perf, "coll")?;
    let took_us = perf.get("coll_exec_time_us")?.as_f64()?;
    let dumped_us = time(metadata, "dump_timestamp_us")?;
    let id = header
        .get("id")
        .map(|id| id.as_str().map_or_else(|| id.to_string(), ToString::to_string));
    let id = id.unwrap_or_default();
    let row = |channel: Option<u16>, start_ns: i64, took_ns: i64| StepRow {
        time_ns: start_ns,
        collective: format!("{id}:{operation}:{}", number(perf, "coll_sn").unwrap_or(0)).into(),
        operation: operation.to_string().into(),
        host: rank.to_string().into(),
        rank: Some(rank),
        channel,
        step: 1,
        bytes: number(perf, "coll_msg_size_bytes"),
        duration_ns: Some(took_ns),
        ..StepRow::default()
    };
    let trace = perf.get("event_trace_ts").and_then(|trace| trace.get("kernel_events"));
    let before = all.steps.len();
    for event in trace.and_then(Value::as_array).into_iter().flatten() {
        let times = time(event, "kernel_start_ts").zip(time(event, "kernel_stop_ts"));
        if let (Some((start, stop)), Some(channel)) =
            (times.filter(|(start, _)| *start > 0), small(event, "channel_id"))
        {
            let took_ns = (stop - start).saturating_mul(1_000);
            let start_ns = start.saturating_mul(1_000);
            all.steps.push(row(u16::try_from(channel).ok(), start_ns, took_ns));
        }
    }
    if all.steps.len() == before {
        let took_ns = nanos(took_us);
        let end_ns = dumped_us.saturating_mul(1_000);
        all.steps.push(row(None, end_ns.saturating_sub(took_ns), took_ns));
    }
    Some(())
}
