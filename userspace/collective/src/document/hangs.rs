//! Collectives that hang.

use crate::hang::{Class, Hang};
use crate::ranks;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::Time;
use serde::Serialize;

/// Ranks that are named one by one.
const NAMED: usize = 8;

/// A collective that hangs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HangDocument {
    /// Why: `calls_differ`, `rank_missing`, `rank_late` or `collective_stuck`.
    pub class: &'static str,
    /// Its group of ranks.
    pub group: String,
    /// Its number in the group.
    pub number: u64,
    /// What most ranks called.
    pub operation: String,
    /// When the first rank called it.
    pub since: Time,
    /// The ranks that are the reason.
    pub ranks: Vec<u32>,
    /// The number of the last collective that each of them has called; null if there is no dump of it.
    pub last_numbers: Vec<Option<u64>>,
    /// What they called instead.
    pub instead: Option<String>,
    /// The ranks that wait for them.
    pub waiting: Vec<u32>,
    /// Ranks of the group without a dump.
    pub without_dump: Vec<u32>,
    /// All of it in a sentence.
    pub text: String,
}

impl HangDocument {
    pub(crate) fn of(hang: &Hang) -> Self {
        let vec = |ranks: &BTreeSet<u32>| ranks.iter().copied().collect();
        Self {
            class: hang.class.name(),
            group: hang.group.clone(),
            number: hang.number,
            operation: hang.operation.clone(),
            since: Time(hang.since_ns),
            ranks: hang.ranks.iter().map(|(rank, _)| *rank).collect(),
            last_numbers: hang.ranks.iter().map(|(_, last)| *last).collect(),
            instead: hang.instead.clone(),
            waiting: vec(&hang.waiting),
            without_dump: vec(&hang.unknown),
            text: format!(
                "Collective {} of group {} hangs: {}.",
                hang.number,
                hang.group,
                reason(hang)
            ),
        }
    }
}

/// Which rank did what, and who waits.
pub(crate) fn reason(hang: &Hang) -> String {
    let (waiting, operation) = (named(hang.waiting.iter().copied()), &hang.operation);
    let culprits = named(hang.ranks.iter().map(|(rank, _)| *rank));
    let wait = if hang.waiting.len() == 1 { "waits" } else { "wait" };
    let mut text = match hang.class {
        Class::CallsDiffer => {
            let instead = hang.instead.as_deref().unwrap_or("another");
            format!("{culprits} called {instead}, {waiting} called {operation}")
        }
        Class::RankMissing if hang.ranks.iter().all(|(_, last)| last.is_none()) => {
            format!("there is no dump of {culprits}, and {waiting} {wait} in {operation}")
        }
        Class::RankMissing => {
            let last = hang.ranks.iter().filter_map(|(_, last)| *last);
            let (least, most) = (last.clone().min().unwrap_or(0), last.max().unwrap_or(0));
            let last = if least == most {
                least.to_string()
            } else {
                format!("{least} to {most}")
            };
            format!("{culprits} never called it (last: {last}), {waiting} {wait} in {operation}")
        }
        Class::RankLate => {
            format!("{culprits} enqueued it and never started, {waiting} started {operation} and {wait}")
        }
        Class::CollectiveStuck => format!("{culprits} started {operation}, and none of them has completed it"),
    };
    let is_reason = |rank: &u32| hang.ranks.iter().any(|(reason, _)| reason == rank);
    let others: BTreeSet<u32> = hang.unknown.iter().filter(|rank| !is_reason(rank)).copied().collect();
    if !others.is_empty() {
        text += &format!("; there is no dump of {}", named(others.into_iter()));
    }
    text
}

/// `rank 2`, `ranks 0, 1, 3`, or ranges of many.
pub(crate) fn named(ranks: impl Iterator<Item = u32>) -> String {
    let ranks: BTreeSet<u32> = ranks.collect();
    match ranks.len() {
        0 => "no rank".to_string(),
        1 => format!("rank {}", ranks::text(ranks)),
        some if some <= NAMED => {
            let names: Vec<String> = ranks.iter().map(u32::to_string).collect();
            format!("ranks {}", names.join(", "))
        }
        _ => format!("ranks {}", ranks::text(ranks)),
    }
}
