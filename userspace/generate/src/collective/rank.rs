//! A rank: when it may send a step and post a credit.

use super::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// The state of a rank.
#[derive(Clone, Debug)]
pub(super) struct Rank {
    pub(super) is_started: bool,
    /// When its network interface is free, and whose turn it is then.
    pub(super) busy_until: u64,
    pub(super) turn: usize,
    /// The steps to send, by sequence: the place of the next one in the plan.
    next: Vec<usize>,
    /// Chunks that arrived and are reduced: link and step.
    reduced: BTreeSet<(usize, u32)>,
    /// By link: credits posted, chunks reduced; when credits passed the tap, and how many are used.
    posted: BTreeMap<usize, u32>,
    consumed: BTreeMap<usize, u32>,
    credits: BTreeMap<usize, Vec<u64>>,
    used: BTreeMap<usize, u32>,
    sequences: Vec<usize>,
}

impl Rank {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut sequences = plan.sequences.clone();
        sequences.sort_unstable();
        sequences.dedup();
        Self {
            is_started: false,
            busy_until: 0,
            turn: 0,
            next: vec![0; sequences.len()],
            reduced: BTreeSet::new(),
            posted: BTreeMap::new(),
            consumed: BTreeMap::new(),
            credits: BTreeMap::new(),
            used: BTreeMap::new(),
            sequences,
        }
    }

    /// Another collective begins.
    pub(super) fn begin(&mut self, plan: &Plan) {
        let (busy_until, turn) = (self.busy_until, self.turn);
        *self = Self {
            busy_until,
            turn,
            ..Self::new(plan)
        };
    }

    /// The chunk of this step, which came over this link, is reduced: its buffer is free.
    pub(super) fn reduced(&mut self, link: usize, step: u32) {
        self.reduced.insert((link, step));
        *self.consumed.entry(link).or_default() += 1;
    }

    /// A credit came, which passed the tap at `passed_ns`.
    pub(super) fn credited(&mut self, link: usize, passed_ns: u64) {
        self.credits.entry(link).or_default().push(passed_ns);
    }

    /// When the credit for chunk `ordinal` of a link passed.
    pub(super) fn credit_ns(&self, link: usize, ordinal: u32) -> u64 {
        let credits = self.credits.get(&link);
        credits
            .and_then(|credits| credits.get(ordinal as usize))
            .copied()
            .unwrap_or(0)
    }

    /// The links over which chunks come for which it has buffers: one for each credit.
    pub(super) fn post_credits(&mut self, plan: &Plan, rank: usize, slots: u32) -> Vec<usize> {
        let mut links = Vec::new();
        if !self.is_started {
            return links;
        }
        for link in &plan.into[rank] {
            let consumed = self.consumed.get(link).copied().unwrap_or(0);
            let posted = self.posted.entry(*link).or_default();
            while *posted < plan.chunks[*link] && *posted < consumed + slots {
                *posted += 1;
                links.push(*link);
            }
        }
        links
    }

    /// The next step that has its data and a credit: its place, its link, and its number on the link.
    pub(super) fn next_step(&mut self, plan: &Plan, rank: usize) -> Option<(usize, usize, u32)> {
        if !self.is_started {
            return None;
        }
        for (place, sequence) in self.sequences.iter().enumerate() {
            let own = plan.sends[rank].iter().enumerate();
            let mut rest = own.skip(self.next[place]);
            let Some((at, send)) = rest.find(|(_, send)| plan.sequences[send.link] == *sequence) else {
                continue;
            };
            let used = self.used.entry(send.link).or_default();
            let has_credit = self
                .credits
                .get(&send.link)
                .is_some_and(|credits| credits.len() > *used as usize);
            if has_credit && send.needs.iter().flatten().all(|needed| self.reduced.contains(needed)) {
                *used += 1;
                self.next[place] = at + 1;
                return Some((at, send.link, *used - 1));
            }
        }
        None
    }
}
