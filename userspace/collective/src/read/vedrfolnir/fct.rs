//! `fct.txt`: a line for each step or flow that completed.
//!
//! A step: `src dst send_step recv_step prev_node sport dport bytes start_ns fct_ns standalone_ns`. If both step numbers
//! are equal when it completes, the next step waits until it received step `recv_step` of `prev_node`. Another flow
//! starts with `###` and has no steps, or has addresses in hexadecimal digits instead of nodes.

use super::{Imported, address, hex_address, node_of};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use rocescope_model::{StepRow, Text};

/// Numbers of the line of a step.
const STEP: usize = 11;
/// Numbers of the line of another flow.
const FLOW: usize = 8;

pub(super) fn read(text: &str, into: &mut Imported) {
    // What the step of this host and number waits for.
    let mut waits: BTreeMap<(i64, i64), Option<(i64, i64)>> = BTreeMap::new();
    let mut hosts: Vec<i64> = Vec::new();
    let first = into.steps.len();
    for (number, line) in text.lines().enumerate() {
        let at = || format!("fct.txt:{}", number + 1);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let other = line.strip_prefix("###");
        let words: Vec<&str> = other.unwrap_or(line).split_whitespace().collect();
        if other.is_none() && words.len() == STEP {
            let numbers: Result<Vec<i64>, _> = words.iter().map(|word| word.parse::<i64>()).collect();
            let row = numbers.ok().and_then(|numbers| {
                let [host, _, send, received, previous, ..] = numbers[..] else {
                    return None;
                };
                let row = step(&numbers)?;
                waits.insert((host, send + 1), (send == received).then_some((previous, received)));
                hosts.push(host);
                Some(row)
            });
            match row {
                Some(row) => into.steps.push(row),
                None => into.complaints.add("not the numbers of a step; skipped", at()),
            }
        } else if words.len() == FLOW {
            match flow(&words, other.is_none()) {
                Some(row) => into.steps.push(row),
                None => into.complaints.add("not the numbers of a flow; skipped", at()),
            }
        } else {
            let kind = format!("neither the {STEP} numbers of a step nor the {FLOW} of a flow; skipped");
            into.complaints.add(&kind, at());
        }
    }
    let steps = into.steps[first..].iter_mut().filter(|row| row.step > 0);
    for (row, host) in steps.zip(hosts) {
        row.waits_known = row.step == 1;
        if let Some(wait) = waits.get(&(host, i64::from(row.step))) {
            row.waits_known = true;
            if let Some((previous, received)) = wait {
                row.awaited_host = Some(previous.to_string().into());
                row.awaited_step = u32::try_from(*received).ok();
            }
        }
    }
}

fn name(node: u32) -> Text {
    node.to_string().into()
}

fn step(numbers: &[i64]) -> Option<StepRow> {
    let [host, dst, send, _, _, src_port, dst_port, bytes, start, took, alone] = numbers[..] else {
        return None;
    };
    let (host, dst) = (u32::try_from(host).ok()?, u32::try_from(dst).ok()?);
    Some(StepRow {
        time_ns: start,
        host: name(host),
        step: u32::try_from(send).ok().filter(|step| *step > 0)?,
        dst_host: name(dst),
        src: Some(address(host)),
        dst: Some(address(dst)),
        src_port: Some(u16::try_from(src_port).ok()?),
        dst_port: Some(u16::try_from(dst_port).ok()?),
        bytes: Some(u64::try_from(bytes).ok()?),
        duration_ns: Some(took),
        expected_ns: Some(alone),
        ..StepRow::default()
    })
}

/// Another flow: between nodes, or between addresses. A step that is cut off has nodes and would look like the former, so
/// lines without `###` need addresses.
fn flow(words: &[&str], has_addresses: bool) -> Option<StepRow> {
    let end = |word: &str| match has_addresses {
        true => hex_address(word),
        false => word.parse().ok().map(address),
    };
    let (src, dst) = (end(words[0])?, end(words[1])?);
    Some(StepRow {
        time_ns: words[5].parse().ok()?,
        host: name(node_of(src)?),
        dst_host: name(node_of(dst)?),
        waits_known: true,
        src: Some(src),
        dst: Some(dst),
        src_port: Some(words[2].parse().ok()?),
        dst_port: Some(words[3].parse().ok()?),
        bytes: Some(words[4].parse().ok()?),
        duration_ns: Some(words[6].parse().ok()?),
        expected_ns: Some(words[7].parse().ok()?),
        ..StepRow::default()
    })
}
