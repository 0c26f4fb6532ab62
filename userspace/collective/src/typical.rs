//! What is usual in a collective: the times of transfers, of ranks and of starts, and which of them stand out.
//!
//! The critical path has the longest times of all, also where nothing is wrong. So a link or a rank is a culprit only if it is
//! slow as a rule: the median of all its times exceeds those of most others.

use crate::occupied::Occupied;
use crate::steps::Steps;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// From this number of times on a median is a rule; fewer must exceed every single time of the others.
const SEVERAL: usize = 3;
/// How many times as long as others a slow link takes, in thousandths, and a slow rank.
const SLOW_LINK: i64 = 1_500;
const SLOW_RANK: i64 = 2_000;
/// How many times the median start of the others a late one takes, and how many times a transfer: starts are never equal.
const LATE: i64 = 4;
const LATE_TRANSFERS: i64 = 3;

/// What a step waited for, in order of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waits {
    /// When it had its data, and its predecessor had ended.
    pub(crate) ready_ns: i64,
    /// When its receiver had the last data that may explain why it had no buffer, at least `ready_ns`.
    pub(crate) received_ns: i64,
    /// When its credit came, at least `received_ns`.
    pub(crate) credit_ns: i64,
}

/// What is usual.
#[derive(Debug)]
pub(crate) struct Typical {
    pub(crate) occupied: Occupied,
    /// First activity of all hosts.
    pub(crate) start_ns: i64,
    /// First activity of each host: a step that it sent, or a credit that it posted.
    pub(crate) active_ns: Vec<i64>,
    /// Transfers as if alone: without what shares the interface of the sender, and without what shares that of either end.
    /// Which of the two is the narrow one is unknown.
    transfers: [Transfers; 2],
    /// The time of a transfer beside others, by its bytes.
    durations: BTreeMap<u64, i64>,
    /// From data and credit to the first packet, and from data to the credit.
    pub(crate) send_gap_ns: i64,
    pub(crate) credit_gap_ns: i64,
    senders: Times<u32>,
    receivers: Times<u32>,
}

/// The times of transfers.
#[derive(Debug, Default)]
struct Transfers {
    by_bytes: BTreeMap<u64, Times<(u32, u32)>>,
    /// What is usual, by the bytes, and the transfers of each link in thousandths of that.
    usual: BTreeMap<u64, i64>,
    links: Times<(u32, u32)>,
}

impl Transfers {
    /// All are there.
    fn finish(&mut self) {
        for (bytes, times) in core::mem::take(&mut self.by_bytes) {
            let usual_ns = times.usual();
            for (link, times) in times.0 {
                let shares = times.into_iter().filter(|_| usual_ns > 0);
                shares.for_each(|ns| self.links.add(link, ns.saturating_mul(1_000) / usual_ns));
            }
            self.usual.insert(bytes, usual_ns);
        }
    }
}

impl Typical {
    pub(crate) fn of(steps: &Steps, start_ns: i64) -> Self {
        let occupied = Occupied::of(steps);
        let mut active_ns = vec![i64::MAX; steps.hosts.len()];
        let (mut senders, mut receivers) = (Times::default(), Times::default());
        let mut transfers = [Transfers::default(), Transfers::default()];
        let mut durations: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for (index, step) in steps.steps.iter().enumerate() {
            let from = steps.streams[step.stream as usize].host;
            let active = &mut active_ns[from as usize];
            *active = step.start_ns.min(*active);
            if let Some(credit_ns) = step.credit_ns() {
                let active = &mut active_ns[step.to as usize];
                *active = credit_ns.min(*active);
            }
            if step.retransmitted == 0 {
                for (transfers, sharing) in transfers.iter_mut().zip(occupied.sharing(steps, index)) {
                    let times = transfers.by_bytes.entry(step.bytes).or_default();
                    times.add((from, step.to), (step.duration_ns as f64 / sharing) as i64);
                }
                durations.entry(step.bytes).or_default().push(step.duration_ns);
            }
            if steps.before(index).is_none() {
                continue;
            }
            let waits = waits(steps, &occupied, index);
            if let Some(data_ns) = steps.data_ns(index) {
                let credit_ns = step.credit_ns().unwrap_or(data_ns).max(data_ns);
                senders.add(from, occupied.free_ns(from, credit_ns, step.start_ns));
            }
            if waits.credit_ns > waits.ready_ns {
                receivers.add(step.to, occupied.free_ns(step.to, waits.received_ns, waits.credit_ns));
            }
        }
        let first_ns = active_ns.iter().copied().min().unwrap_or(start_ns).min(start_ns);
        active_ns
            .iter_mut()
            .filter(|active| **active == i64::MAX)
            .for_each(|active| *active = first_ns);
        transfers.iter_mut().for_each(Transfers::finish);
        Self {
            occupied,
            start_ns: first_ns,
            active_ns,
            transfers,
            durations: durations
                .into_iter()
                .map(|(bytes, all)| (bytes, quantile(all, 1, 2)))
                .collect(),
            send_gap_ns: senders.usual(),
            credit_gap_ns: receivers.usual(),
            senders,
            receivers,
        }
    }

    /// How much longer a step passed than others of its size do, beside what shared its links.
    pub(crate) fn excess_ns(&self, steps: &Steps, index: usize) -> i64 {
        let step = &steps.steps[index];
        let usual = |times: &BTreeMap<u64, i64>| times.get(&step.bytes).copied().unwrap_or(step.duration_ns);
        if step.retransmitted > 0 {
            // While it waits for its retransmission, others pass that share nothing with it.
            return step.duration_ns - usual(&self.durations);
        }
        let sharing = self.occupied.sharing(steps, index);
        let expected = self.transfers.iter().zip(sharing);
        let expected = expected.map(|(transfers, sharing)| (usual(&transfers.usual) as f64 * sharing) as i64);
        step.duration_ns - expected.max().unwrap_or(step.duration_ns)
    }

    /// Whether the link takes longer than others as a rule. Those out of the same host share its interface.
    pub(crate) fn is_slow_link(&self, from: u32, to: u32) -> bool {
        let mut transfers = self.transfers.iter();
        transfers.all(|transfers| {
            transfers
                .links
                .stands_out((from, to), |other| other.0 != from, SLOW_LINK)
        })
    }

    /// Whether the rank takes longer than others as a rule.
    pub(crate) fn is_slow_rank(&self, host: u32) -> bool {
        let is_slow = |times: &Times<u32>| times.stands_out(host, |_| true, SLOW_RANK);
        is_slow(&self.senders) || is_slow(&self.receivers)
    }

    /// The median time from the first activity of all to that of another host.
    pub(crate) fn start_gap_ns(&self, host: u32) -> i64 {
        let others = self.active_ns.iter().zip(0..).filter(|(_, other)| *other != host);
        quantile(others.map(|(active_ns, _)| active_ns - self.start_ns).collect(), 1, 2)
    }

    /// Whether the host starts much later than others do.
    pub(crate) fn is_late(&self, host: u32) -> bool {
        let late_ns = self.active_ns[host as usize] - self.start_ns;
        let transfer_ns = self.durations.values().copied().max().unwrap_or(0);
        late_ns >= (LATE * self.start_gap_ns(host)).max(LATE_TRANSFERS * transfer_ns)
    }

    /// What a step waited for.
    pub(crate) fn waits(&self, steps: &Steps, index: usize) -> Waits {
        waits(steps, &self.occupied, index)
    }
}

fn waits(steps: &Steps, occupied: &Occupied, index: usize) -> Waits {
    let step = &steps.steps[index];
    let from = steps.streams[step.stream as usize].host;
    let mut ready_ns = steps.ready_ns(index, step.start_ns);
    if !step.data_known && steps.before(index).is_some() {
        // Any data may be what it needed.
        ready_ns = ready_ns.max(occupied.arrived_ns(from, step.start_ns).unwrap_or(ready_ns));
    }
    let credit_ns = step.credit_ns().unwrap_or(ready_ns).clamp(ready_ns, step.start_ns);
    let received_ns = occupied.arrived_ns(step.to, credit_ns).unwrap_or(ready_ns);
    Waits {
        ready_ns,
        received_ns: received_ns.clamp(ready_ns, credit_ns),
        credit_ns,
    }
}

/// Times of each link or rank.
#[derive(Debug)]
struct Times<K>(BTreeMap<K, Vec<i64>>);

impl<K> Default for Times<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Copy + Ord> Times<K> {
    fn add(&mut self, of: K, ns: i64) {
        self.0.entry(of).or_default().push(ns);
    }

    /// The lower median of the medians; 0 of none.
    fn usual(&self) -> i64 {
        quantile(
            self.0.values().map(|times| quantile(times.clone(), 1, 2)).collect(),
            1,
            2,
        )
    }

    /// Whether the times of one are this number of thousandths of those of others or more.
    fn stands_out(&self, of: K, is_other: impl Fn(K) -> bool, thousandths: i64) -> bool {
        let Some(own) = self.0.get(&of) else {
            return false;
        };
        let others = || {
            self.0
                .iter()
                .filter(|(other, _)| **other != of && is_other(**other))
                .map(|(_, times)| times)
        };
        let most = if own.len() < SEVERAL {
            others().flatten().copied().max()
        } else {
            let medians: Vec<i64> = others().map(|times| quantile(times.clone(), 1, 2)).collect();
            (!medians.is_empty()).then(|| quantile(medians, 3, 4))
        };
        let own = quantile(own.clone(), 1, 2);
        most.is_some_and(|most| own > most && own.saturating_mul(1_000) >= most.saturating_mul(thousandths))
    }
}

/// The lower quantile, a part of its ranks; 0 of none.
fn quantile(mut all: Vec<i64>, part: usize, of: usize) -> i64 {
    let Some(last) = all.len().checked_sub(1) else {
        return 0;
    };
    *all.select_nth_unstable(last * part / of).1
}
