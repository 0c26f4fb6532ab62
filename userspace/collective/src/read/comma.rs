//! `CoMMA`'s per-step JSON (`NCCL_PROFILER_LATENCY_FILE`): an object for each collective of a rank, with its proxy operations
//! and the network transfers of each. Times are microseconds.

use super::json::{number, objects, small, text, time};
use super::{File, Imported, Operation, Receive, complete};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use rocescope_model::StepRow;
use serde_json::Value;

/// The name of the format in rows.
pub const FORMAT: &str = "comma";

/// Reads the files of all ranks.
#[must_use]
pub fn read(files: &[File], observer: &str) -> Imported {
    let mut all = Imported::default();
    for file in files {
        let mut complaints = core::mem::take(&mut all.complaints);
        let mut unread = 0_u64;
        objects(file, &mut complaints, |value| {
            if collective(value, &mut all).is_none() {
                unread += 1;
            }
        });
        all.complaints.append(complaints);
        if unread > 0 {
            let kind = "objects without `name`, `rank` or `comm_hash`, or of send and receive; skipped";
            all.complaints.add(kind, format!("{}: {unread}", file.name));
        }
    }
    if !all.steps.is_empty() {
        let lack = "this format has no queue pairs, no channels and no waits; sends of a collective to one rank are numbered \
                    as channels, and clocks of ranks may differ";
        all.complaints.add(lack, FORMAT);
    }
    complete(&mut all, observer, FORMAT);
    all
}

fn collective(value: &Value, all: &mut Imported) -> Option<()> {
    const NANOS_IN_US: i64 = 1_000;
    let operation = text(value, "name")?;
    let rank = small(value, "rank")?;
    let communicator = text(value, "comm_hash").map(String::from);
    let communicator = communicator.or_else(|| number(value, "comm_hash").map(|hash| format!("{hash:#x}")))?;
    let name = format!("{communicator}:{operation}:{}", number(value, "seq_num")?);
    // How many operations to each rank came before.
    let mut channels: BTreeMap<u32, u16> = BTreeMap::new();
    let mut received: BTreeMap<u32, u16> = BTreeMap::new();
    let operation_of = |channel| Operation {
        collective: name.clone().into(),
        rank,
        channel,
    };
    let operations = value.get("proxyops").and_then(Value::as_array);
    for proxy in operations.into_iter().flatten() {
        if proxy.get("is_send").and_then(Value::as_bool) != Some(true) {
            if let Some(from) = small(proxy, "peer") {
                let channel = received.entry(from).or_default();
                let by = operation_of(*channel);
                all.receives.push(Receive { by, from });
                *channel = channel.saturating_add(1);
            }
            continue;
        }
        let Some(peer) = small(proxy, "peer") else {
            all.complaints.add("a send without `peer`; skipped", &name);
            continue;
        };
        let channel = channels.entry(peer).or_default();
        for step in proxy.get("steps").and_then(Value::as_array).into_iter().flatten() {
            let (Some(number_), Some(start)) = (small(step, "step"), time(step, "start_time")) else {
                all.complaints
                    .add("a step without `step` or `start_time`; skipped", &name);
                continue;
            };
            if number_ == 0 {
                all.complaints.add("step 0, where the first is 1; skipped", &name);
                continue;
            }
            let took = time(step, "end_time").map(|end| end - start);
            all.steps.push(StepRow {
                time_ns: start.saturating_mul(NANOS_IN_US),
                collective: name.clone().into(),
                operation: operation.to_string().into(),
                host: rank.to_string().into(),
                rank: Some(rank),
                channel: Some(*channel),
                step: number_,
                dst_host: peer.to_string().into(),
                bytes: number(step, "size"),
                duration_ns: took.map(|took| took.saturating_mul(NANOS_IN_US)),
                ..StepRow::default()
            });
        }
        // An object is written when its collective is over.
        all.finished.push(operation_of(*channel));
        *channel = channel.saturating_add(1);
    }
    Some(())
}
