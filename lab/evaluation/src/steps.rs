//! Steps from the wire against the generator's, and the culprit against what was planted.
//!
//! `LAB_FIRST_SEED=77 cargo xtask lab steps --full` runs other seeds.

pub(crate) mod incidents;
pub(crate) mod shapes;
#[cfg(test)]
mod tests;

use crate::generated;
use crate::table::{Goal, Line, Size, percent};
use rocescope_collective::culprit::{Culprit, culprits};
use rocescope_collective::steps::{Builder, Steps};
use rocescope_collective::waiting::critical_path;
use rocescope_generate::Truth;
use rocescope_generate::truth::StepTruth;
use rocescope_model::StepRow;
use rocescope_pipeline::connections::ConnectionSettings;
use std::collections::BTreeMap;

const SEEDS: u64 = 2;
const ALL_SEEDS: u64 = 20;

/// What is known of connections, with the steps of collectives.
fn settings() -> ConnectionSettings {
    ConnectionSettings {
        steps: true,
        ..ConnectionSettings::default()
    }
}

/// The rows of `steps` of a scenario, and its truth.
fn capture(scenario: &str, seed: u64) -> (Vec<StepRow>, Truth) {
    let mut rows = Vec::new();
    let truth = generated::capture(scenario, seed, settings(), |mut window| rows.append(&mut window.steps));
    (rows, truth)
}

/// Eight ranks and two channels; only headers are captured.
fn ring(more: &str, straggler: &str) -> String {
    let straggler = match straggler {
        "" => String::new(),
        keys => format!("[[collective.straggler]]\n{keys}\n"),
    };
    format!("snaplen = 128\n[[collective]]\nranks = \"10.0.0.1-10.0.0.8\"\nchannels = 2\n{more}\n{straggler}")
}

/// How many steps of the truth have a row that is equal in all: numbers, size, waits, times to the nanosecond.
fn right(rows: &[StepRow], truth: &[StepTruth]) -> usize {
    let mut names: Vec<&str> = rows.iter().map(|row| &*row.collective).collect();
    names.sort_unstable();
    names.dedup();
    let collective = |row: &StepRow| names.iter().position(|name| **name == *row.collective).unwrap() + 1;
    let key = |row: &StepRow| (collective(row), row.src, row.src_qpn, row.dst_qpn, row.step);
    let found: BTreeMap<_, &StepRow> = rows.iter().map(|row| (key(row), row)).collect();
    assert_eq!(found.len(), rows.len(), "no step is there twice");
    let mut ordered: Vec<&StepTruth> = truth.iter().collect();
    ordered.sort_by_key(|step| (step.collective, step.step));
    let mut ends = BTreeMap::new();
    let mut right = 0;
    for step in ordered {
        let numbers = (Some(step.host), Some(step.src_qpn), Some(step.dst_qpn), step.step);
        let (host, src_qpn, dst_qpn, number) = numbers;
        // Two hosts may have the same QP number.
        let before = ends.insert((step.collective, host, src_qpn), step.last_ns);
        let ready = before.unwrap_or(0).max(step.credit_ns);
        let Some(row) = found.get(&(step.collective.into(), host, src_qpn, dst_qpn, number)) else {
            continue;
        };
        let signed = |ns: u64| Some(ns as i64);
        let is_right = (row.time_ns as u64, row.bytes, row.likelihood) == (step.first_ns, Some(step.bytes), Some(1.0))
            && row.duration_ns == signed(step.last_ns - step.first_ns)
            && row.send_wait_ns == signed(step.first_ns.saturating_sub(ready))
            && row.credit_wait_ns == before.and_then(|before| signed(ready - before))
            && row.retransmitted_packets == Some(step.retransmitted_packets);
        if !is_right {
            println!("{row:?}\nfor {step:?}, ready {ready}, before {before:?}");
        }
        right += usize::from(is_right);
    }
    right
}

fn steps(rows: &[StepRow]) -> Steps {
    let mut builder = Builder::default();
    for row in rows {
        builder.add(row);
    }
    builder.finish()
}

/// The culprit in the words of the truth: kind, host, receiver, queue pair there.
fn named(rows: &[StepRow]) -> Option<(String, String, Option<String>, Option<u32>)> {
    let steps = steps(rows);
    let found = culprits(&steps, &critical_path(&steps));
    let host = |host: u32| steps.hosts[host as usize].to_string();
    found.first().map(|delay| {
        let (from, to, qpn) = match delay.culprit {
            Culprit::SlowLink { from, to } => (from, Some(to), None),
            Culprit::LossyQp { from, to, qpn } => (from, Some(to), qpn),
            Culprit::SlowRank { host } | Culprit::LateStart { host } => (host, None, None),
        };
        (delay.culprit.name().to_owned(), host(from), to.map(host), qpn)
    })
}

/// What makes a run slow, and the keys of the scenario for it.
const STRAGGLERS: [(&str, &str); 5] = [
    ("none", ""),
    ("slow_link", "kind = \"slow_link\"\nrate = \"20Gbit/s\""),
    ("slow_rank", "kind = \"slow_rank\"\ndelay = \"40us\""),
    ("late_start", "kind = \"late_start\"\ndelay = \"1ms\""),
    ("lossy_qp", "kind = \"lossy_qp\"\nloss = 0.02"),
];

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let first = std::env::var("LAB_FIRST_SEED").map_or(1, |text| text.parse().unwrap());
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    let (mut good, mut all, mut rows_seen) = (0, 0, 0);
    let mut lines = Vec::new();
    for (kind, straggler) in STRAGGLERS {
        let mut hits = 0;
        for seed in first..first + seeds {
            let (rows, truth) = capture(&ring("", straggler), seed);
            good += right(&rows, &truth.steps) as u64;
            all += truth.steps.len() as u64;
            rows_seen += rows.len() as u64;
            let planted = truth.stragglers.first().map(|one| {
                let to = one.dst_host.map(|host| host.to_string());
                (one.kind.to_owned(), one.host.to_string(), to, one.dst_qpn)
            });
            let found = named(&rows);
            if found != planted {
                let steps = steps(&rows);
                let path = critical_path(&steps);
                let (culprits, total_ns) = (culprits(&steps, &path), path.total_ns);
                println!("{kind}, seed {seed}: {culprits:?} of {total_ns:?}, {:?}", steps.hosts);
            }
            hits += u64::from(found == planted);
        }
        let named = percent(hits, seeds);
        lines.push(Line::new(
            kind,
            seeds,
            "culprit named, or none, %",
            named,
            Goal::AtLeast(95.0),
        ));
    }
    let part = "all";
    lines.push(Line::new(
        part,
        all,
        "steps right in all, %",
        percent(good, all),
        Goal::AtLeast(99.0),
    ));
    let differ = rows_seen.abs_diff(all) as f64;
    lines.push(Line::new(
        part,
        all,
        "rows too many or too few",
        differ,
        Goal::AtMost(0.0),
    ));
    lines
}
