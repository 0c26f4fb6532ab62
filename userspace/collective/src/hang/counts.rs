//! Hangs in reports of NCCL's RAS, which count how often each rank has called each collective.
//!
//! The ranks of a communicator call its collectives in one order. So of two ranks, what the one called is the beginning of what
//! the other called, whenever each was asked: a rank with more calls of one operation and fewer of another called something
//! else. A rank with fewer calls in all is behind; whether it hangs or is on its way, a second report shows.

use super::{Class, Hang};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_model::{StepRow, Text};

/// `state` of a rank that RAS has counts of.
pub const CALLED: &str = "called";
/// `state` of a rank that RAS considers dead.
pub const DEAD: &str = "dead";
/// `state` of a rank that did not answer RAS.
pub const UNREACHABLE: &str = "unreachable";
/// `state` of a rank whose process answered, and that has the communicator no more, or not yet.
pub const LEFT: &str = "left";

/// Without a new call in this time, a job does not go on: longer than a step of most jobs.
const STILL_NS: i64 = 30_000_000_000;

/// What reports of RAS add to a hang.
#[derive(Debug, Clone, PartialEq)]
pub struct Ras {
    /// Time between two reports in which no rank called anything; `None` if there is one report, or they are too close.
    pub still_ns: Option<i64>,
    /// Why ranks have no counts, if that is the reason: `dead`, `unreachable` or `left`.
    pub silence: Option<&'static str>,
    /// Hosts of the ranks that are the reason, in their order.
    pub hosts: Vec<Text>,
}

/// Calls of each operation.
type Calls = BTreeMap<String, u64>;

/// The calls as text, as the rows have them: `AllGather 2, AllReduce 6`.
pub(crate) fn signature(calls: &BTreeMap<&str, u64>) -> String {
    let texts: Vec<String> = calls.iter().map(|(name, count)| format!("{name} {count}")).collect();
    texts.join(", ")
}

fn calls(signature: &str) -> Calls {
    let parts = signature.split(", ");
    parts
        .filter_map(|part| {
            let (name, count) = part.rsplit_once(' ')?;
            Some((name.to_string(), count.parse().ok()?))
        })
        .collect()
}

#[derive(Debug)]
struct Answer {
    host: Text,
    /// `None` if there are no counts of it.
    calls: Option<Calls>,
    silence: Option<&'static str>,
}

impl Answer {
    fn total(&self) -> Option<u64> {
        let calls = self.calls.as_ref()?;
        Some(calls.values().fold(0, |sum: u64, count| sum.saturating_add(*count)))
    }
}

/// What RAS has of each rank of a communicator.
#[derive(Debug, Default)]
struct Report {
    answers: BTreeMap<u32, Answer>,
}

/// The two newest reports of each communicator.
#[derive(Debug, Default)]
pub(super) struct Counts {
    groups: HashMap<String, BTreeMap<i64, Report>>,
}

impl Counts {
    /// Adds a row of the format.
    pub(super) fn add(&mut self, row: &StepRow) {
        let (Some(rank), Some(state)) = (row.rank, &row.state) else {
            return;
        };
        let group = row.collective.split(':').next().unwrap_or_default();
        let reports = self.groups.entry_ref(group).or_default();
        let report = reports.entry(row.time_ns).or_default();
        let silence = [DEAD, UNREACHABLE, LEFT].into_iter().find(|name| *name == &**state);
        let answer = Answer {
            host: row.host.clone(),
            calls: (**state == *CALLED).then(|| calls(row.signature.as_deref().unwrap_or_default())),
            silence,
        };
        report.answers.insert(rank, answer);
        if reports.len() > 2 {
            reports.pop_first();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn find(&self) -> impl Iterator<Item = Hang> {
        self.groups.iter().filter_map(|(name, reports)| hang(name, reports))
    }
}

fn hang(name: &str, reports: &BTreeMap<i64, Report>) -> Option<Hang> {
    let (time_ns, report) = reports.last_key_value()?;
    let before = reports.iter().rev().nth(1);
    let is_moving = before.is_some_and(|(_, before)| {
        let grew = |(rank, answer): (&u32, &Answer)| {
            let known = before.answers.get(rank).and_then(Answer::total);
            known.is_some_and(|known| answer.total().is_some_and(|total| total > known))
        };
        report.answers.iter().any(grew)
    });
    let still_ns = before
        .map(|(before_ns, _)| time_ns.saturating_sub(*before_ns))
        .filter(|still| !is_moving && *still >= STILL_NS);
    let (class, reason) = report
        .silent(is_moving)
        .or_else(|| {
            let differ = report.differ();
            (!differ.is_empty()).then_some((Class::CallsDiffer, differ))
        })
        .or_else(|| report.behind().filter(|_| !is_moving))
        .or_else(|| still_ns.and_then(|_| report.stuck()))?;
    Some(report.named(name, class, &reason, *time_ns, still_ns))
}

impl Report {
    fn counted(&self) -> impl Iterator<Item = (u32, &Calls)> {
        self.answers
            .iter()
            .filter_map(|(rank, answer)| Some((*rank, answer.calls.as_ref()?)))
    }

    /// Ranks without counts, of the gravest reason. A job that goes on has only such that are dead.
    fn silent(&self, is_moving: bool) -> Option<(Class, BTreeSet<u32>)> {
        let kinds: &[&str] = if is_moving { &[DEAD] } else { &[DEAD, UNREACHABLE, LEFT] };
        let of = |kind: &&str| -> BTreeSet<u32> {
            let silent = self.answers.iter().filter(|(_, answer)| answer.silence == Some(*kind));
            silent.map(|(rank, _)| *rank).collect()
        };
        let silent = kinds.iter().map(of).find(|ranks| !ranks.is_empty())?;
        Some((Class::RankMissing, silent))
    }

    /// The calls of most ranks.
    fn most(&self) -> Option<&Calls> {
        let mut by_calls: BTreeMap<&Calls, u64> = BTreeMap::new();
        for (_, calls) in self.counted() {
            *by_calls.entry(calls).or_default() += 1;
        }
        by_calls
            .into_iter()
            .max_by_key(|(_, ranks)| *ranks)
            .map(|(calls, _)| calls)
    }

    /// Ranks whose calls are neither the beginning of what most ranks called, nor go on from there.
    fn differ(&self) -> BTreeSet<u32> {
        let Some(most) = self.most() else {
            return BTreeSet::new();
        };
        let differ = self
            .counted()
            .filter(|(_, calls)| !is_beginning(calls, most) && !is_beginning(most, calls));
        differ.map(|(rank, _)| rank).collect()
    }

    /// Ranks that called fewer collectives than others.
    fn behind(&self) -> Option<(Class, BTreeSet<u32>)> {
        let totals: Vec<(u32, u64)> = self
            .answers
            .iter()
            .filter_map(|(rank, answer)| Some((*rank, answer.total()?)))
            .collect();
        let least = totals.iter().map(|(_, total)| *total).min()?;
        let is_least = |(_, total): &&(u32, u64)| *total == least;
        let behind: BTreeSet<u32> = totals.iter().filter(is_least).map(|(rank, _)| *rank).collect();
        (behind.len() < totals.len()).then_some((Class::RankMissing, behind))
    }

    /// All ranks, if they called as many collectives.
    fn stuck(&self) -> Option<(Class, BTreeSet<u32>)> {
        let is_any = self.counted().any(|(_, calls)| !calls.is_empty());
        is_any.then(|| (Class::CollectiveStuck, self.counted().map(|(rank, _)| rank).collect()))
    }

    fn named(&self, name: &str, class: Class, reason: &BTreeSet<u32>, time_ns: i64, still_ns: Option<i64>) -> Hang {
        let answer = |rank: &u32| self.answers.get(rank);
        let last = |rank: &u32| answer(rank).and_then(Answer::total);
        let of_reason = reason
            .iter()
            .filter_map(answer)
            .find_map(|answer| answer.calls.as_ref());
        let ahead = self
            .counted()
            .filter(|(rank, _)| !reason.contains(rank))
            .map(|(_, calls)| calls);
        let ahead = ahead.min_by_key(|calls| calls.values().fold(0, |sum: u64, count| sum.saturating_add(*count)));
        let (operation, instead) = match (class, of_reason, self.most()) {
            (Class::CallsDiffer, Some(other), Some(most)) => (text(most), Some(text(other))),
            (Class::RankMissing, Some(behind), _) => (next(behind, ahead), None),
            (_, _, most) => (most.map(text).unwrap_or_default(), None),
        };
        let least = self.answers.values().filter_map(Answer::total).min().unwrap_or(0);
        Hang {
            class,
            group: name.to_string(),
            number: match of_reason {
                Some(_) if class == Class::RankMissing => least.saturating_add(1),
                _ => least,
            },
            operation,
            since_ns: time_ns.saturating_sub(still_ns.unwrap_or(0)),
            ranks: reason.iter().map(|rank| (*rank, last(rank))).collect(),
            instead,
            waiting: self
                .counted()
                .map(|(rank, _)| rank)
                .filter(|rank| class == Class::CollectiveStuck || !reason.contains(rank))
                .collect(),
            unknown: self
                .answers
                .iter()
                .filter(|(_, answer)| answer.calls.is_none())
                .map(|(rank, _)| *rank)
                .collect(),
            ras: Some(Ras {
                still_ns,
                silence: reason.iter().find_map(|rank| answer(rank)?.silence),
                hosts: reason
                    .iter()
                    .filter_map(|rank| Some(answer(rank)?.host.clone()))
                    .collect(),
            }),
        }
    }
}

/// Whether what a rank called may be the beginning of what another called.
fn is_beginning(one: &Calls, of: &Calls) -> bool {
    one.iter()
        .all(|(name, count)| of.get(name).is_some_and(|other| other >= count))
}

fn text(calls: &Calls) -> String {
    signature(&calls.iter().map(|(name, count)| (name.as_str(), *count)).collect())
}

/// What those ahead called, and those behind did not.
fn next(behind: &Calls, ahead: Option<&Calls>) -> String {
    let more = ahead.into_iter().flatten();
    let more = more.filter(|(name, count)| behind.get(*name).is_none_or(|known| known < count));
    let names: Vec<&str> = more.map(|(name, _)| name.as_str()).collect();
    names.join(" or ")
}

#[cfg(test)]
mod tests;
