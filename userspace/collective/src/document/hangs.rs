//! Collectives that hang.

use crate::hang::counts::{DEAD, LEFT, Ras};
use crate::hang::{Class, Hang};
use crate::ranks;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::human::readable;
use rocescope_model::{Time, Unit, Value};
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
    /// Ranks of the group without a dump, or of which RAS has no counts.
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
            text: format!("{}.", sentence(hang, "Collective")),
        }
    }
}

/// Which collective hangs, or may hang, and why.
pub(crate) fn sentence(hang: &Hang, collective: &str) -> String {
    let (number, group) = (hang.number, &hang.group);
    // One report does not show whether a rank is on its way.
    let is_certain = |ras: &Ras| match hang.class {
        Class::CallsDiffer => true,
        Class::CollectiveStuck => false,
        _ => ras.still_ns.is_some() || ras.silence == Some(DEAD),
    };
    let hangs = match &hang.ras {
        Some(ras) if !is_certain(ras) => "may hang",
        _ => "hangs",
    };
    let reason = match &hang.ras {
        Some(ras) => reason_of_ras(hang, ras),
        None => reason(hang),
    };
    format!("{collective} {number} of group {group} {hangs}: {reason}")
}

/// The same of reports of RAS, which know calls and no completions.
fn reason_of_ras(hang: &Hang, ras: &Ras) -> String {
    let (waiting, operation) = (named(hang.waiting.iter().copied()), &hang.operation);
    let culprits = named(hang.ranks.iter().map(|(rank, _)| *rank));
    let is_one = hang.ranks.len() == 1;
    let mut text = match (hang.class, ras.silence) {
        (Class::CallsDiffer, _) => {
            let instead = hang.instead.as_deref().unwrap_or("others");
            format!("{culprits} called {instead}, most others called {operation}")
        }
        (Class::RankMissing, Some(silence)) => {
            let verb = match (silence, is_one) {
                (DEAD, true) => "is considered dead",
                (DEAD, false) => "are considered dead",
                (LEFT, true) => "lives and does not have the communicator",
                (LEFT, false) => "live and do not have the communicator",
                (_, true) => "does not answer",
                (_, false) => "do not answer",
            };
            format!("{culprits} {verb}, {waiting} called {operation}")
        }
        (Class::CollectiveStuck, _) => {
            format!("{culprits} called it ({operation}); whether it has completed is unknown")
        }
        _ => {
            let last = hang.ranks.iter().find_map(|(_, last)| *last).unwrap_or(0);
            format!("{culprits} never called it (last: {last}), {waiting} did ({operation})")
        }
    };
    text += &match ras.still_ns {
        Some(still_ns) => format!(
            "; no rank called another in the {} between two reports",
            readable(&Value::I64(still_ns), Unit::Nanoseconds)
        ),
        None if hang.class == Class::CallsDiffer => String::new(),
        None => "; a second report, a minute later, would show whether the job goes on".to_string(),
    };
    let hosts: BTreeSet<&str> = ras
        .hosts
        .iter()
        .map(|host| &**host)
        .filter(|host| !host.is_empty())
        .collect();
    if hang.class != Class::CollectiveStuck && (1..=NAMED).contains(&hosts.len()) {
        let hosts: Vec<&str> = hosts.into_iter().collect();
        text += &format!(
            "; {culprits} {} at {}",
            if is_one { "is" } else { "are" },
            hosts.join(", ")
        );
    }
    text
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
