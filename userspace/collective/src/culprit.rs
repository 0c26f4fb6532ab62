//! What made a collective slow, from the waits of its steps: a link, a rank, a late start, a QP that loses packets.
//!
//! The time between the start and the end of the collective is distributed over the critical path. Each step of it has
//! the time of its transfer, and the time from the moment when it had all it needs, which are the data of the step
//! before, its own predecessor's end, and the receiver's credit. What exceeds the median of steps alike has a cause:
//!
//! | excess | cause |
//! |---|---|
//! | transfer, without retransmissions | the link |
//! | transfer, with retransmissions | the QP |
//! | from data and credit to the first packet | the rank that sends |
//! | from data and the own end to the credit | the rank that receives |
//! | the same before the first activity of that rank | its late start |
//!
//! Only for steps whose waits are known: captured ones, and those of NCCL's profilers.

use crate::steps::Steps;
use crate::waiting::CriticalPath;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// What made a collective slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Culprit {
    /// The link from a host to another: its transfers took longer.
    SlowLink {
        /// The host that sends.
        from: u32,
        /// The host that receives.
        to: u32,
    },
    /// A host: it sends late although it has data and credit, or posts its credits late.
    SlowRank {
        /// The host.
        host: u32,
    },
    /// A host: it starts later than the others.
    LateStart {
        /// The host.
        host: u32,
    },
    /// A QP: its transfers took longer, and packets were retransmitted.
    LossyQp {
        /// The host that sends.
        from: u32,
        /// The host that receives.
        to: u32,
        /// The QP there, if it is known.
        qpn: Option<u32>,
    },
}

impl Culprit {
    /// Its name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SlowLink { .. } => "slow_link",
            Self::SlowRank { .. } => "slow_rank",
            Self::LateStart { .. } => "late_start",
            Self::LossyQp { .. } => "lossy_qp",
        }
    }
}

/// A culprit, and how much longer the collective took because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// What it is.
    pub culprit: Culprit,
    /// The excess on the critical path.
    pub cost_ns: i64,
}

/// The part of the time of a collective below which nothing is named: a false alarm is worse than none. Retransmissions
/// are evidence of their own.
const LEAST_SHARE: f64 = 0.1;
const LEAST_SHARE_OF_LOSSES: f64 = 0.02;

/// What a step of the path waited for, in order of time.
#[derive(Debug, Clone, Copy)]
struct Waits {
    /// The end of the data it needs, or of its own predecessor if that is later.
    ready_ns: i64,
    /// When its credit came, at least `ready_ns`.
    credit_ns: i64,
}

/// The culprits on the critical path, the one with the highest cost first; none if the waits of steps are unknown.
#[must_use]
pub fn culprits(steps: &Steps, path: &CriticalPath) -> Vec<Delay> {
    let Some((start_ns, end_ns)) = steps.span_ns() else {
        return Vec::new();
    };
    if !steps.steps.iter().any(|step| step.send_wait_ns().is_some()) {
        return Vec::new();
    }
    let typical = Typical::of(steps, start_ns);
    let start_ns = typical.start_ns;
    let mut costs: BTreeMap<Culprit, i64> = BTreeMap::new();
    let mut blame = |culprit: Culprit, ns: i64| {
        if ns > 0 {
            *costs.entry(culprit).or_default() += ns;
        }
    };
    for part in &path.parts {
        let step = &steps.steps[part.step];
        let (from, to) = (steps.streams[step.stream as usize].host, step.to);
        let transfer_ns = step.duration_ns - typical.transfer_ns(step.bytes);
        blame(
            match step.retransmitted {
                0 => Culprit::SlowLink { from, to },
                _ => Culprit::LossyQp {
                    from,
                    to,
                    qpn: step.qpn(),
                },
            },
            transfer_ns,
        );
        let Waits { ready_ns, credit_ns } = waits(steps, part.step, start_ns);
        // Before its first activity, a host had not started.
        let mut late = |host: u32, from_ns: i64, to_ns: i64, usual_ns: i64| {
            let active_ns = typical.active_ns[host as usize].clamp(from_ns, to_ns);
            let late_ns = active_ns - from_ns;
            blame(Culprit::LateStart { host }, late_ns - typical.start_gap_ns);
            blame(Culprit::SlowRank { host }, to_ns - active_ns - usual_ns);
        };
        late(to, ready_ns, credit_ns, typical.credit_gap_ns);
        late(from, credit_ns, step.start_ns.max(credit_ns), typical.send_gap_ns);
    }
    let least = |culprit| match culprit {
        Culprit::LossyQp { .. } => LEAST_SHARE_OF_LOSSES,
        _ => LEAST_SHARE,
    };
    let whole_ns = (end_ns - start_ns) as f64;
    let mut delays: Vec<Delay> = costs
        .into_iter()
        .map(|(culprit, cost_ns)| Delay { culprit, cost_ns })
        .filter(|delay| delay.cost_ns as f64 >= whole_ns * least(delay.culprit))
        .collect();
    delays.sort_by_key(|delay| core::cmp::Reverse(delay.cost_ns));
    delays
}

/// When a step had its data and the end of its predecessor, and when also its credit.
fn waits(steps: &Steps, index: usize, start_ns: i64) -> Waits {
    let step = &steps.steps[index];
    let before = steps.before(index).map(|before| steps.steps[before].end_ns());
    let data = step.awaited().map(|awaited| steps.steps[awaited].end_ns());
    let ready_ns = before.max(data).unwrap_or(start_ns).min(step.start_ns);
    let credit_ns = step.credit_ns().unwrap_or(ready_ns).clamp(ready_ns, step.start_ns);
    Waits { ready_ns, credit_ns }
}

/// What is usual.
#[derive(Debug)]
struct Typical {
    /// First activity of all hosts.
    start_ns: i64,
    /// First activity of each host: a step that it sent, or a credit that it posted.
    active_ns: Vec<i64>,
    /// Median time of a transfer, by its bytes.
    transfers: BTreeMap<u64, i64>,
    /// Median time from data to credit, and from credit to the first packet, of steps that follow others.
    credit_gap_ns: i64,
    send_gap_ns: i64,
    /// Median time from the first activity of all to that of a host.
    start_gap_ns: i64,
}

impl Typical {
    fn of(steps: &Steps, start_ns: i64) -> Self {
        let mut active_ns = vec![i64::MAX; steps.hosts.len()];
        let mut by_bytes: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        let (mut credit_gaps, mut send_gaps) = (Vec::new(), Vec::new());
        for (index, step) in steps.steps.iter().enumerate() {
            let host = steps.streams[step.stream as usize].host as usize;
            active_ns[host] = active_ns[host].min(step.start_ns);
            if let Some(credit_ns) = step.credit_ns() {
                let to = step.to as usize;
                active_ns[to] = active_ns[to].min(credit_ns);
            }
            by_bytes.entry(step.bytes).or_default().push(step.duration_ns);
            if steps.before(index).is_some() {
                let Waits { ready_ns, credit_ns } = waits(steps, index, start_ns);
                credit_gaps.push(credit_ns - ready_ns);
                send_gaps.push(step.start_ns - credit_ns);
            }
        }
        let first_ns = active_ns.iter().copied().min().unwrap_or(start_ns).min(start_ns);
        for active in &mut active_ns {
            if *active == i64::MAX {
                *active = first_ns;
            }
        }
        let starts = active_ns.iter().map(|active| active - first_ns).collect();
        Self {
            start_ns: first_ns,
            transfers: by_bytes.into_iter().map(|(bytes, all)| (bytes, median(all))).collect(),
            credit_gap_ns: median(credit_gaps),
            send_gap_ns: median(send_gaps),
            start_gap_ns: median(starts),
            active_ns,
        }
    }

    fn transfer_ns(&self, bytes: u64) -> i64 {
        self.transfers.get(&bytes).copied().unwrap_or(0)
    }
}

/// The lower median; 0 of none.
fn median(mut all: Vec<i64>) -> i64 {
    if all.is_empty() {
        return 0;
    }
    let middle = (all.len() - 1) / 2;
    *all.select_nth_unstable(middle).1
}

#[cfg(test)]
#[path = "culprit_tests.rs"]
mod tests;
