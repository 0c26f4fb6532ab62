//! What made a collective slow, from the waits of its steps: a link, a rank, a late start, a QP that loses packets.
//!
//! The time between the start and the end of the collective is distributed over the critical path. Each step of it has
//! the time of its transfer, and the time from the moment when it had all it needs, which are the data of the step
//! before, its own predecessor's end, and the receiver's credit. What exceeds what is usual has a cause:
//!
//! | excess | cause |
//! |---|---|
//! | transfer, without retransmissions | the link |
//! | transfer, with retransmissions | the QP |
//! | from data and credit to the first packet | the rank that sends |
//! | from data and the own end to the credit | the rank that receives |
//! | the same before the first activity of that rank | its late start |
//!
//! A host is not blamed for the time in which it sends other steps or waits for other credits, and a link not for what
//! shares it. A link or a rank is named only if it is slow as a rule, and not on the critical path alone: that has the
//! longest times where nothing is wrong, too (`typical`).
//!
//! Only for steps whose waits are known: captured ones, and those of NCCL's profilers.

use crate::steps::Steps;
use crate::typical::Typical;
use crate::waiting::CriticalPath;
use alloc::collections::BTreeMap;
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
const LEAST_SHARE_OF_LOSSES: f64 = 0.01;

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
    let mut costs: BTreeMap<Culprit, i64> = BTreeMap::new();
    let mut blame = |culprit: Culprit, ns: i64| {
        if ns > 0 {
            *costs.entry(culprit).or_default() += ns;
        }
    };
    for part in &path.parts {
        let step = &steps.steps[part.step];
        let (from, to) = (steps.streams[step.stream as usize].host, step.to);
        let transfer = match step.retransmitted {
            0 => Culprit::SlowLink { from, to },
            _ => Culprit::LossyQp {
                from,
                to,
                qpn: step.qpn(),
            },
        };
        blame(transfer, typical.excess_ns(steps, part.step));
        let waits = typical.waits(steps, part.step);
        let is_first = steps.before(part.step).is_none();
        // Before its first activity, a host had not started.
        let mut late = |host: u32, from_ns: i64, to_ns: i64| {
            let from_ns = if is_first { typical.start_ns } else { from_ns };
            let active_ns = typical.active_ns[host as usize].clamp(from_ns, to_ns.max(from_ns));
            blame(
                Culprit::LateStart { host },
                active_ns - from_ns - typical.start_gap_ns(host),
            );
            active_ns
        };
        let (credit_ns, start_ns) = (waits.credit_ns, step.start_ns);
        let received_ns = late(to, waits.ready_ns, credit_ns).max(waits.received_ns);
        let sent_ns = late(from, credit_ns, start_ns).max(credit_ns);
        let free_ns = |host, from_ns, to_ns| typical.occupied.free_ns(host, from_ns, to_ns);
        blame(
            Culprit::SlowRank { host: to },
            free_ns(to, received_ns, credit_ns) - typical.credit_gap_ns,
        );
        blame(
            Culprit::SlowRank { host: from },
            free_ns(from, sent_ns, start_ns) - typical.send_gap_ns,
        );
    }
    let whole_ns = (end_ns - typical.start_ns) as f64;
    let is_named = |delay: &Delay| {
        let (least, stands_out) = match delay.culprit {
            Culprit::LossyQp { .. } => (LEAST_SHARE_OF_LOSSES, true),
            Culprit::SlowLink { from, to } => (LEAST_SHARE, typical.is_slow_link(from, to)),
            Culprit::SlowRank { host } => (LEAST_SHARE, typical.is_slow_rank(host)),
            Culprit::LateStart { host } => (LEAST_SHARE, typical.is_late(host)),
        };
        stands_out && delay.cost_ns as f64 >= whole_ns * least
    };
    let delays = costs.into_iter().map(|(culprit, cost_ns)| Delay { culprit, cost_ns });
    let mut delays: Vec<Delay> = delays.filter(is_named).collect();
    delays.sort_by_key(|delay| core::cmp::Reverse(delay.cost_ns));
    delays
}

#[cfg(test)]
#[path = "culprit_tests.rs"]
mod tests;
