//! Which data a captured step needed, because its source states no waits.
//!
//! A capture shows what arrived at a host before it sent, and not what of it the host needed. In a ring, a step needs the
//! data that arrived in the step before; where a host sends to several, chunk k to one needs chunk k of others. Such a rule holds for a
//! sequence of steps only if nearly all of the data ended before the steps began: a rank never sends what it lacks.

use crate::steps::{Step, Steps};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// No step.
const NONE: u32 = u32::MAX;
/// A rule holds if at most one step in this many contradicts it.
const RARE: usize = 10;
/// Sequences into a host that are compared with one out of it.
const MAX_SOURCES: usize = 16;
/// Steps of a sequence that show a rule by their order alone.
const FEW: usize = 4;

/// What the steps of a collective needed.
#[derive(Debug)]
pub(crate) struct Needs {
    /// The step that each one needed, and that ended last; `u32::MAX`: none is known.
    pub(crate) data: Vec<u32>,
    /// Whether a rule is known for its sequence.
    pub(crate) is_known: Vec<bool>,
}

/// Whether data that ended then may be what a step needed.
fn is_early(steps: &Steps, data: u32, step: usize) -> bool {
    let data = steps.steps.get(data as usize);
    data.is_some_and(|data| data.end_ns() <= steps.steps[step].start_ns)
}

/// Whether the stream of this step goes to several hosts: the numbers of different hosts then count different things.
fn has_several_receivers(steps: &Steps, step: usize) -> bool {
    let step = &steps.steps[step];
    let stream = &steps.steps[steps.of_stream(step.stream as usize)];
    stream.iter().any(|other| other.to != step.to)
}

impl Needs {
    /// `numbered`: of each step the one whose data arrived at its host in the step before; `u32::MAX` without one.
    pub(crate) fn of(steps: &Steps, numbered: &[u32]) -> Self {
        let mut needs = Self {
            data: vec![NONE; steps.steps.len()],
            is_known: vec![false; steps.steps.len()],
        };
        for stream in 0..steps.streams.len() {
            let pairs: Vec<(usize, u32)> = steps.of_stream(stream).map(|step| (step, numbered[step])).collect();
            needs.apply(steps, &pairs);
        }
        needs.by_order(steps);
        needs
    }

    /// Takes a rule, the data of each step of a sequence, if the times of nearly all agree.
    fn apply(&mut self, steps: &Steps, pairs: &[(usize, u32)]) {
        let with_data = || pairs.iter().filter(|(_, data)| *data != NONE);
        let early = with_data().filter(|(step, data)| is_early(steps, *data, *step)).count();
        let late = with_data().count() - early;
        if early == 0 || late > early / RARE {
            return;
        }
        for (step, data) in pairs {
            self.is_known[*step] = true;
            if !is_early(steps, *data, *step) {
                continue;
            }
            let end_ns = |index: u32| steps.steps.get(index as usize).map(Step::end_ns);
            if end_ns(self.data[*step]) < end_ns(*data) {
                self.data[*step] = *data;
            }
        }
    }

    /// Chunk k of a host needs chunk k of others, or chunk k - 1, where numbers show nothing.
    fn by_order(&mut self, steps: &Steps) {
        let mut sequences: BTreeMap<(u32, u32, u32), Vec<usize>> = BTreeMap::new();
        for (index, step) in steps.steps.iter().enumerate() {
            let host = steps.streams[step.stream as usize].host;
            sequences.entry((host, step.to, step.stream)).or_default().push(index);
        }
        let mut into: BTreeMap<u32, Vec<&Vec<usize>>> = BTreeMap::new();
        for ((_, to, _), sequence) in &sequences {
            into.entry(*to).or_default().push(sequence);
        }
        for ((host, ..), sequence) in &sequences {
            let is_known = sequence.iter().any(|step| self.is_known[*step]);
            if sequence.len() < FEW || is_known && !has_several_receivers(steps, sequence[0]) {
                continue;
            }
            let sources = into.get(host).into_iter().flatten();
            for source in sources
                .filter(|source| source.len() == sequence.len())
                .take(MAX_SOURCES)
            {
                let shifted = |by: usize| {
                    let data = core::iter::repeat_n(NONE, by).chain(source.iter().map(|data| *data as u32));
                    sequence.iter().copied().zip(data).collect::<Vec<_>>()
                };
                let before = self.data.clone();
                self.apply(steps, &shifted(0));
                if before == self.data {
                    self.apply(steps, &shifted(1));
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "needs_tests.rs"]
mod tests;
