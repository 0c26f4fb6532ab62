use super::*;
use crate::steps::Builder;
use crate::waiting::critical_path;
use rocescope_model::{StepRow, Text};
use std::format;

const RANKS: i64 = 4;
const STEPS: i64 = 6;
const TRANSFER_NS: i64 = 1_000;
const GAP_NS: i64 = 100;

/// A ring in which each rank starts, sends and computes as `of` states: start, transfer, gap before a step, and packets that
/// are retransmitted.
fn ring(of: impl Fn(i64) -> (i64, i64, i64, u64)) -> (Steps, Vec<Delay>) {
    let mut ends = [[0_i64; RANKS as usize]; 1 + STEPS as usize];
    let mut builder = Builder::default();
    for step in 1..=STEPS {
        for rank in 0..RANKS {
            let previous = (rank + RANKS - 1) % RANKS;
            let (start, transfer, gap, retransmitted) = of(rank);
            let next_start = of((rank + 1) % RANKS).0;
            let own = (step > 1).then(|| ends[step as usize - 1][rank as usize]);
            let ready = match own {
                Some(own) => own.max(ends[step as usize - 1][previous as usize]) + gap,
                None => start.max(next_start),
            };
            ends[step as usize][rank as usize] = ready + transfer;
            let host = |rank: i64| -> Text { format!("h{rank}").into() };
            builder.add(&StepRow {
                format: Text::from_static(StepRow::CAPTURED),
                host: host(rank),
                channel: Some(0),
                dst_host: host((rank + 1) % RANKS),
                step: step as u32,
                time_ns: ready,
                duration_ns: Some(transfer),
                bytes: Some(4_096),
                credit_wait_ns: own.map(|_| 0),
                send_wait_ns: Some(ready - own.unwrap_or(next_start)),
                retransmitted_packets: Some(retransmitted),
                dst_qpn: Some(7),
                ..StepRow::default()
            });
        }
    }
    let steps = builder.finish();
    let path = critical_path(&steps);
    let (start, end) = steps.span_ns().unwrap();
    assert_eq!(path.total_ns, end - start, "the path explains all of the time");
    let found = culprits(&steps, &path);
    (steps, found)
}

fn named(of: impl Fn(i64) -> (i64, i64, i64, u64)) -> Option<(&'static str, Text)> {
    let (steps, found) = ring(of);
    found.first().map(|delay| {
        let host = match delay.culprit {
            Culprit::SlowLink { from, .. } | Culprit::LossyQp { from, .. } => from,
            Culprit::SlowRank { host } | Culprit::LateStart { host } => host,
        };
        (delay.culprit.name(), steps.hosts[host as usize].clone())
    })
}

#[test]
fn each_fault_is_named_with_its_host() {
    let h2 = || Text::from_static("h2");
    let usual = (0, TRANSFER_NS, GAP_NS, 0);
    let with = |fault: (i64, i64, i64, u64)| move |rank| if rank == 2 { fault } else { usual };
    assert_eq!(named(|_| usual), None);
    assert_eq!(named(with((0, 5_000, GAP_NS, 0))), Some(("slow_link", h2())));
    assert_eq!(named(with((0, 5_000, GAP_NS, 3))), Some(("lossy_qp", h2())));
    assert_eq!(named(with((0, TRANSFER_NS, 5_000, 0))), Some(("slow_rank", h2())));
    assert_eq!(
        named(with((50_000, TRANSFER_NS, GAP_NS, 0))),
        Some(("late_start", h2()))
    );
}

#[test]
fn steps_without_waits_have_no_culprit() {
    let mut builder = Builder::default();
    builder.add(&StepRow {
        host: Text::from_static("a"),
        dst_host: Text::from_static("b"),
        step: 1,
        duration_ns: Some(5),
        ..StepRow::default()
    });
    let steps = builder.finish();
    assert!(culprits(&steps, &critical_path(&steps)).is_empty());
}

/// Two leaves send to the root at the same time, which sends to one after the other, and reduces first.
#[test]
fn a_healthy_tree_has_no_culprit_although_its_ranks_have_different_tasks() {
    let mut builder = Builder::default();
    for chunk in 0..8_i64 {
        let number = chunk as u32 + 1;
        let mut send = |host: &'static str, step: u32, to: &'static str, at_ns: i64| {
            builder.add(&StepRow {
                format: Text::from_static(StepRow::CAPTURED),
                host: Text::from_static(host),
                channel: Some(0),
                dst_host: Text::from_static(to),
                step,
                time_ns: at_ns,
                duration_ns: Some(5_000),
                bytes: Some(65_536),
                // All credits are there from the start.
                credit_wait_ns: (chunk > 0).then_some(0),
                send_wait_ns: Some(300),
                retransmitted_packets: Some(0),
                ..StepRow::default()
            });
        };
        send("a", number, "root", 15_000 * chunk);
        send("b", number, "root", 15_000 * chunk + 200);
        send("root", 2 * number - 1, "a", 15_000 * chunk + 15_000);
        send("root", 2 * number, "b", 15_000 * chunk + 20_300);
    }
    let steps = builder.finish();
    assert_eq!(culprits(&steps, &critical_path(&steps)), []);
}
