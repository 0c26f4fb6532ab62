//! Reports of NCCL's RAS subsystem (`ncclras -f json`, from NCCL 2.28 on): for each communicator, how often each rank has
//! called each collective, and which ranks did not answer.
//!
//! RAS counts calls, not completions. One report shows who is behind; two show whether the job goes on.

use super::json::{number, objects, small, text};
use super::{File, Imported, complete};
use crate::hang::counts::{self, CALLED};
use crate::{ranks, time};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{StepRow, Text};
use serde_json::Value;

/// The name of the format in rows.
pub const FORMAT: &str = "nccl-ras";

/// Ranks that are named as members: more than any job has.
const MOST_RANKS: u32 = 1 << 20;
/// Between two ranks: not every rank calls these.
const OF_PAIRS: [&str; 3] = ["Send", "Recv", "SendRecv"];

/// Reads reports, several in a file or in files. Each rank of a communicator is a row without a step.
#[must_use]
pub fn read(files: &[File], observer: &str) -> Imported {
    let mut all = Imported::default();
    for file in files {
        let whole = File {
            name: file.name.clone(),
            text: with_commas(&file.text),
        };
        let mut complaints = core::mem::take(&mut all.complaints);
        let mut is_none = true;
        objects(&whole, &mut complaints, |report| {
            let Some(communicators) = report.get("communicators").and_then(Value::as_array) else {
                return;
            };
            is_none = false;
            let Some(time_ns) = text(report, "timestamp").and_then(time::local) else {
                all.complaints.add("a report without a timestamp; skipped", &file.name);
                return;
            };
            let mut seen = BTreeSet::new();
            for communicator in communicators {
                let Some(hash) = text(communicator, "hash").filter(|hash| !hash.contains(':')) else {
                    all.complaints.add("a communicator without a hash; skipped", &file.name);
                    continue;
                };
                if seen.insert(hash) {
                    add(&mut all, &file.name, communicator, hash, time_ns);
                } else {
                    all.complaints
                        .add("several communicators have this hash; the first counts", hash);
                }
            }
        });
        complaints.append(core::mem::take(&mut all.complaints));
        all.complaints = complaints;
        if is_none {
            all.complaints
                .add("no report of RAS; `ncclras -f json` writes one", &file.name);
        }
    }
    if !all.steps.is_empty() {
        let lack = "RAS counts calls: which of them have completed is unknown. Its times are local times of the host that was \
                    asked, taken as UTC";
        all.complaints.add(lack, FORMAT);
    }
    complete(&mut all, observer, FORMAT);
    all
}

/// NCCL 2.28 leaves out the comma before the status of a missing rank.
fn with_commas(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        whole.push_str(line);
        let is_before_status = lines
            .peek()
            .is_some_and(|next| next.trim_start().starts_with("\"status\""));
        if is_before_status && line.trim_end().ends_with(|sign: char| sign.is_ascii_digit()) {
            whole.push(',');
        }
        whole.push('\n');
    }
    whole
}

/// Adds a row for each rank of a communicator.
fn add(all: &mut Imported, file: &str, communicator: &Value, hash: &str, time_ns: i64) {
    let list = |key: &str| {
        communicator
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    let (answered, missing) = (list("ranks"), list("missing_ranks"));
    let size = small(communicator, "size").unwrap_or(0).min(MOST_RANKS);
    let members: Text = ranks::text_of(0..size).into();
    let row = |rank: &Value, number: u64, state: &'static str| {
        Some(StepRow {
            time_ns,
            collective: format!("{hash}:calls:{number}").into(),
            host: text(rank, "host").unwrap_or_default().to_string().into(),
            rank: Some(small(rank, "rank")?),
            state: Some(Text::from_static(state)),
            members: (size > 0).then(|| members.clone()),
            ..StepRow::default()
        })
    };
    let (mut unread, mut is_ending) = (0_u64, false);
    for rank in answered {
        let status = rank.get("status");
        let is = |flag: &str| status.and_then(|status| status.get(flag)?.as_bool()) == Some(true);
        is_ending |= is("finalize_called") || is("destroy_flag") || is("abort_flag");
        note_errors(all, rank, hash);
        let calls: BTreeMap<&str, u64> = rank
            .get("collective_counts")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter(|(name, _)| !OF_PAIRS.contains(&name.as_str()))
            .filter_map(|(name, count)| Some((name.as_str(), count.as_u64().filter(|count| *count > 0)?)))
            .collect();
        let total = calls.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        match row(rank, total, CALLED) {
            Some(row) => all.steps.push(StepRow {
                signature: (!calls.is_empty()).then(|| counts::signature(&calls).into()),
                ..row
            }),
            None => unread += 1,
        }
    }
    for rank in missing {
        let status = rank.get("status");
        let is = |flag: &str| status.and_then(|status| status.get(flag)?.as_bool()) == Some(true);
        let state = match (is("considered_dead"), is("unresponsive")) {
            (true, _) => counts::DEAD,
            (_, true) => counts::UNREACHABLE,
            // Ranks leave a communicator that ends at different times.
            _ if is_ending => continue,
            _ => counts::LEFT,
        };
        match row(rank, 0, state) {
            Some(row) => all.steps.push(row),
            None => unread += 1,
        }
    }
    if unread > 0 {
        let kind = "ranks without a number; skipped";
        all.complaints.add(kind, format!("{file}: {unread}"));
    }
}

/// States which ranks report an error, or have not finished to set up the communicator.
fn note_errors(all: &mut Imported, rank: &Value, hash: &str) {
    /// `ncclInProgress`.
    const IN_PROGRESS: u64 = 7;
    let Some(status) = rank.get("status") else { return };
    let of = |key: &str| number(status, key).unwrap_or(0);
    let name = format!("communicator {hash}, rank {}", small(rank, "rank").unwrap_or(0));
    let error = match (of("async_error"), of("init_state")) {
        (0 | IN_PROGRESS, 0) => return,
        (0 | IN_PROGRESS, IN_PROGRESS) => "sets up its communicator still".to_string(),
        (0 | IN_PROGRESS, error) => format!("could not set up its communicator: {}", named(error)),
        (error, _) => format!("NCCL reports an error: {}", named(error)),
    };
    all.complaints.add(&error, name);
}

/// `ncclResult_t`.
fn named(error: u64) -> String {
    let name = match error {
        1 => "a call of CUDA failed",
        2 => "a call of the system failed",
        3 => "an internal check failed",
        4 => "an invalid argument",
        5 => "an invalid use",
        6 => "another process or the network failed",
        _ => return format!("error {error}"),
    };
    format!("{name} (error {error})")
}
