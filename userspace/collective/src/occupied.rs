//! When the network interface of a host was busy, and who shared it: what a host cannot be blamed for.

use crate::steps::Steps;
use alloc::vec;
use alloc::vec::Vec;

/// Steps before and behind one that may pass at the same time.
const NEAR: usize = 64;

/// What each host sends and receives, and when it could not send.
#[derive(Debug)]
pub(crate) struct Occupied {
    /// Of each host, the times in which it sent or its receiver had no buffer: apart from each other, in order, with the sum
    /// of those before.
    spans: Vec<Vec<(i64, i64, i64)>>,
    /// Steps out of each host and into it, by start.
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    /// Ends of the steps into each host, in order.
    ends: Vec<Vec<i64>>,
}

impl Occupied {
    pub(crate) fn of(steps: &Steps) -> Self {
        let hosts = steps.hosts.len();
        let (mut out, mut into) = (vec![Vec::new(); hosts], vec![Vec::new(); hosts]);
        let (mut spans, mut ends) = (vec![Vec::new(); hosts], vec![Vec::new(); hosts]);
        for (index, step) in steps.steps.iter().enumerate() {
            let (from, to) = (steps.streams[step.stream as usize].host as usize, step.to as usize);
            out[from].push(index as u32);
            into[to].push(index as u32);
            ends[to].push(step.end_ns());
            spans[from].push((step.start_ns, step.end_ns()));
            if let Some(credit_ns) = step.credit_ns() {
                spans[from].push((steps.ready_ns(index, credit_ns), credit_ns));
            }
        }
        for list in out.iter_mut().chain(&mut into) {
            list.sort_unstable_by_key(|step| steps.steps[*step as usize].start_ns);
        }
        ends.iter_mut().for_each(|ends| ends.sort_unstable());
        Self {
            spans: spans.into_iter().map(joined).collect(),
            out,
            into,
            ends,
        }
    }

    /// How much of a time a host was not busy.
    pub(crate) fn free_ns(&self, host: u32, from_ns: i64, to_ns: i64) -> i64 {
        if to_ns <= from_ns {
            return 0;
        }
        let spans = &self.spans[host as usize];
        let busy_until = |ns: i64| {
            let at = spans.partition_point(|(start_ns, ..)| *start_ns <= ns);
            at.checked_sub(1).map_or(0, |at| {
                let (start_ns, end_ns, before_ns) = spans[at];
                before_ns.saturating_add(end_ns.min(ns).saturating_sub(start_ns))
            })
        };
        let busy_ns = busy_until(to_ns).saturating_sub(busy_until(from_ns));
        to_ns.saturating_sub(from_ns).saturating_sub(busy_ns)
    }

    /// When the last data arrived at a host until `ns`.
    pub(crate) fn arrived_ns(&self, host: u32, ns: i64) -> Option<i64> {
        let ends = &self.ends[host as usize];
        let at = ends.partition_point(|end_ns| *end_ns <= ns);
        at.checked_sub(1).map(|at| ends[at])
    }

    /// How many times its own bytes passed the interface of its sender while a step passed, and the busier one of its two
    /// ends; at least 1.
    pub(crate) fn sharing(&self, steps: &Steps, index: usize) -> [f64; 2] {
        let step = &steps.steps[index];
        if step.bytes == 0 || step.duration_ns <= 0 {
            return [1.0; 2];
        }
        let from = steps.streams[step.stream as usize].host as usize;
        let of = |list: &[u32]| (shared_bytes(steps, list, index) / step.bytes as f64).max(1.0);
        let out = of(&self.out[from]);
        [out, out.max(of(&self.into[step.to as usize]))]
    }
}

/// Times that overlap become one.
fn joined(mut all: Vec<(i64, i64)>) -> Vec<(i64, i64, i64)> {
    all.sort_unstable();
    let mut spans: Vec<(i64, i64, i64)> = Vec::with_capacity(all.len());
    for (start_ns, end_ns) in all.into_iter().filter(|(start_ns, end_ns)| end_ns > start_ns) {
        match spans.last_mut() {
            Some(last) if start_ns <= last.1 => last.1 = last.1.max(end_ns),
            last => {
                let before_ns = last.map_or(0, |(start_ns, end_ns, before_ns)| {
                    before_ns.saturating_add(end_ns.saturating_sub(*start_ns))
                });
                spans.push((start_ns, end_ns, before_ns));
            }
        }
    }
    spans
}

/// The bytes of these steps that pass while one of them does, if each passes evenly.
fn shared_bytes(steps: &Steps, list: &[u32], index: usize) -> f64 {
    let step = &steps.steps[index];
    let at = list.partition_point(|other| steps.steps[*other as usize].start_ns < step.start_ns);
    let near = &list[at.saturating_sub(NEAR)..list.len().min(at + NEAR)];
    let bytes = near.iter().map(|other| {
        let other = &steps.steps[*other as usize];
        let overlap_ns = step
            .end_ns()
            .min(other.end_ns())
            .saturating_sub(step.start_ns.max(other.start_ns));
        if overlap_ns < 0 {
            0.0
        } else if other.duration_ns == 0 {
            other.bytes as f64
        } else {
            other.bytes as f64 * overlap_ns as f64 / other.duration_ns as f64
        }
    });
    bytes.sum()
}
