//! Collectives that hang: which rank did not come, came and did not start, or called something else.
//!
//! A collective ends when all ranks of its group have called it with the same arguments. The ranks of a group call its
//! collectives in one order, and number them; so the first number that one of them has called and not completed hangs, and
//! what the others did with that number is the reason.

pub mod counts;

use crate::ranks;
use crate::read::{flight_recorder, nccl_ras};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use counts::{Counts, Ras};
use hashbrown::HashMap;
use rocescope_model::{StepRow, Text};

/// `state` of a part of a collective that a rank has called and not started.
pub const ENQUEUED: &str = "enqueued";
/// `state` of one that runs.
pub const STARTED: &str = "started";
/// `state` of one that has ended.
pub const COMPLETED: &str = "completed";

/// Why a collective hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Ranks called different collectives, or with different arguments.
    CallsDiffer,
    /// A rank never called it.
    RankMissing,
    /// A rank called it and never started it.
    RankLate,
    /// All ranks started it, and not all completed it.
    CollectiveStuck,
}

impl Class {
    /// Its name in documents and incidents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallsDiffer => "calls_differ",
            Self::RankMissing => "rank_missing",
            Self::RankLate => "rank_late",
            Self::CollectiveStuck => "collective_stuck",
        }
    }
}

/// A collective that hangs.
#[derive(Debug, Clone, PartialEq)]
pub struct Hang {
    /// Why.
    pub class: Class,
    /// Its group of ranks.
    pub group: String,
    /// Its number in the group.
    pub number: u64,
    /// What most ranks called.
    pub operation: String,
    /// When the first rank called it.
    pub since_ns: i64,
    /// The ranks that are the reason, with the number of the last collective that each has called, if it called any.
    pub ranks: Vec<(u32, Option<u64>)>,
    /// What they called instead, if that is the reason.
    pub instead: Option<String>,
    /// The ranks that wait for them.
    pub waiting: BTreeSet<u32>,
    /// Ranks of the group of which there is no dump.
    pub unknown: BTreeSet<u32>,
    /// What RAS knows of it; `None` if it is from dumps of ranks.
    pub ras: Option<Ras>,
}

/// A call that has not completed.
#[derive(Debug, Clone)]
struct Call {
    operation: Text,
    signature: Option<Text>,
    has_started: bool,
    time_ns: i64,
}

impl Call {
    fn text(&self) -> String {
        match &self.signature {
            Some(signature) => [&*self.operation, " of ", &**signature].concat(),
            None => self.operation.to_string(),
        }
    }
}

/// What is kept of a rank of a group.
#[derive(Debug, Default)]
struct Rank {
    /// The highest number that it has called.
    last: u64,
    open: BTreeMap<u64, Call>,
}

/// Takes the rows of `steps`, in any order.
#[derive(Debug, Default)]
pub struct Hangs {
    groups: HashMap<String, Group>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Group {
    members: BTreeSet<u32>,
    ranks: BTreeMap<u32, Rank>,
    /// Ranks whose dump is cut: what they called last is unknown.
    cut: BTreeSet<u32>,
}

impl Hangs {
    /// Adds a row; of those without a state only that there is one counts.
    pub fn add(&mut self, row: &StepRow) {
        if *row.format == *nccl_ras::FORMAT {
            self.counts.add(row);
            return;
        }
        let Some(rank) = row
            .rank
            .filter(|_| row.members.is_some() || *row.format == *flight_recorder::FORMAT)
        else {
            return;
        };
        // GROUP:OPERATION:NUMBER, where the operation has a colon as well.
        let Some((group, number)) = row
            .collective
            .split_once(':')
            .and_then(|(group, rest)| Some((group, rest.rsplit_once(':')?.1.parse().ok()?)))
        else {
            return;
        };
        let group = self.groups.entry(group.to_string()).or_default();
        let Some(state) = &row.state else {
            // A transfer between two ranks of a whole dump has the members of its group.
            if row.members.is_none() {
                group.cut.insert(rank);
            }
            return;
        };
        if group.members.is_empty() {
            group.members = row.members.as_deref().map(ranks::read).into_iter().flatten().collect();
        }
        let known = group.ranks.entry(rank).or_default();
        known.last = known.last.max(number);
        if **state != *COMPLETED {
            let call = Call {
                operation: row.operation.clone(),
                signature: row.signature.clone(),
                has_started: **state == *STARTED,
                time_ns: row.time_ns,
            };
            known.open.insert(number, call);
        }
    }

    /// Whether there are reports of RAS among the rows.
    #[must_use]
    pub fn has_counts(&self) -> bool {
        !self.counts.is_empty()
    }

    /// The collectives that hang, one for each group: the one that began to wait first, which may be the reason of all
    /// others, first.
    #[must_use]
    pub fn find(&self) -> Vec<Hang> {
        let mut found: Vec<Hang> = self
            .groups
            .iter()
            .filter_map(|(name, group)| group.hang(name))
            .chain(self.counts.find())
            .collect();
        found.sort_by(|one, other| (one.since_ns, &one.group).cmp(&(other.since_ns, &other.group)));
        found
    }
}

impl Group {
    fn hang(&self, name: &str) -> Option<Hang> {
        let open = |rank: &Rank| rank.open.keys().next().copied();
        let number = self.ranks.values().filter_map(open).min()?;
        let calls: BTreeMap<u32, &Call> = self
            .ranks
            .iter()
            .filter_map(|(rank, known)| Some((*rank, known.open.get(&number)?)))
            .collect();
        let mut by_text: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for (rank, call) in &calls {
            by_text.entry(call.text()).or_default().insert(*rank);
        }
        let most = by_text.iter().max_by_key(|(_, ranks)| ranks.len())?.0.clone();
        let absent = self.ranks.iter().filter(|(_, known)| known.last < number);
        let absent = absent.filter(|(rank, _)| !self.cut.contains(rank));
        let absent: BTreeSet<u32> = absent.map(|(rank, _)| *rank).collect();
        let late = calls.iter().filter(|(_, call)| !call.has_started);
        let late: BTreeSet<u32> = late.map(|(rank, _)| *rank).collect();
        let callers: BTreeSet<u32> = calls.keys().copied().collect();
        let unknown: BTreeSet<u32> = self
            .members
            .iter()
            .filter(|rank| !self.ranks.contains_key(rank) && !self.cut.contains(rank))
            .copied()
            .collect();
        let others = by_text.iter().filter(|(text, _)| **text != most);
        let (texts, differ): (Vec<&String>, Vec<&BTreeSet<u32>>) = others.unzip();
        let differ: BTreeSet<u32> = differ.into_iter().flatten().copied().collect();
        let (class, reason) = if !differ.is_empty() {
            (Class::CallsDiffer, differ)
        } else if !absent.is_empty() {
            (Class::RankMissing, absent)
        } else if !late.is_empty() && late.len() < callers.len() {
            (Class::RankLate, late)
        } else if !unknown.is_empty() {
            (Class::RankMissing, unknown.clone())
        } else {
            (Class::CollectiveStuck, callers.clone())
        };
        let is_stuck = class == Class::CollectiveStuck;
        let operation = calls.values().find(|call| call.text() == most)?.operation.to_string();
        Some(Hang {
            class,
            group: name.to_string(),
            number,
            operation: match class {
                Class::CallsDiffer => most,
                _ => operation,
            },
            since_ns: calls.values().map(|call| call.time_ns).min()?,
            ranks: reason
                .iter()
                .map(|rank| (*rank, self.ranks.get(rank).map(|known| known.last)))
                .collect(),
            instead: (!texts.is_empty()).then(|| texts.into_iter().cloned().collect::<Vec<_>>().join(" or ")),
            waiting: callers
                .into_iter()
                .filter(|rank| is_stuck || !reason.contains(rank))
                .collect(),
            unknown,
            ras: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Hangs};
    use crate::document::hangs::reason;
    use crate::read::{File, flight_recorder};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    /// A dump of a rank: what it called from number 1 on, how far it was with the last, and the sizes of that.
    fn dump(rank: u32, calls: u64, operation: &str, state: &str, sizes: u64) -> File {
        let entries: Vec<String> = (1..=calls)
            .map(|number| {
                let is_last = number == 6;
                let (operation, state, sizes) = match is_last {
                    true => (operation, state, sizes),
                    false => ("nccl:all_reduce", "completed", 64),
                };
                format!(
                    r#"{{"process_group": ["0", "default_pg"], "collective_seq_id": {number}, "profiling_name": "{operation}",
                    "time_created_ns": {}, "input_sizes": [[{sizes}]], "input_dtypes": ["Float"], "state": "{state}",
                    "is_p2p": false}}"#,
                    1_000_000 * number + u64::from(rank)
                )
            })
            .collect();
        File {
            name: format!("trace_rank_{rank}.json"),
            text: format!(
                r#"{{"pg_config": {{"0": {{"ranks": "[0, 1, 2, 3]"}}}}, "entries": [{}]}}"#,
                entries.join(",")
            ),
        }
    }

    fn hang(dumps: &[File]) -> Option<(Class, String)> {
        let mut hangs = Hangs::default();
        flight_recorder::read(dumps, "test")
            .steps
            .iter()
            .for_each(|row| hangs.add(row));
        let found = hangs.find();
        assert!(found.len() < 2);
        found.first().map(|hang| (hang.class, reason(hang)))
    }

    /// Rank 2 as given, the others wait in number 6.
    fn with(second: Option<File>) -> Option<(Class, String)> {
        let waits = |rank| dump(rank, 6, "nccl:all_reduce", "started", 64);
        let dumps: Vec<File> = [0, 1, 3].map(waits).into_iter().chain(second).collect();
        hang(&dumps)
    }

    #[test]
    fn the_rank_that_is_the_reason_is_named() {
        let (reduce, gather) = ("nccl:all_reduce", "nccl:all_gather");
        let cases = [
            (
                Some(dump(2, 5, reduce, "completed", 64)),
                Class::RankMissing,
                "rank 2 never called it (last: 5), ranks 0, 1, 3 wait in nccl:all_reduce",
            ),
            (
                Some(dump(2, 6, reduce, "scheduled", 64)),
                Class::RankLate,
                "rank 2 enqueued it and never started, ranks 0, 1, 3 started nccl:all_reduce and wait",
            ),
            (
                Some(dump(2, 6, gather, "started", 64)),
                Class::CallsDiffer,
                "rank 2 called nccl:all_gather of Float [[64]], ranks 0, 1, 3 called nccl:all_reduce of Float [[64]]",
            ),
            (
                Some(dump(2, 6, reduce, "started", 32)),
                Class::CallsDiffer,
                "rank 2 called nccl:all_reduce of Float [[32]], ranks 0, 1, 3 called nccl:all_reduce of Float [[64]]",
            ),
            (
                Some(dump(2, 6, reduce, "started", 64)),
                Class::CollectiveStuck,
                "ranks 0, 1, 2, 3 started nccl:all_reduce, and none of them has completed it",
            ),
            (
                None,
                Class::RankMissing,
                "there is no dump of rank 2, and ranks 0, 1, 3 wait in nccl:all_reduce",
            ),
        ];
        for (second, class, text) in cases {
            assert_eq!(with(second), Some((class, text.into())));
        }
        // What a dump that is cut lacks is unknown: its entries stand alone, and no rank is named for what is missing.
        let entry = dump(2, 1, reduce, "completed", 64);
        let alone = entry
            .text
            .split_once("\"entries\": ")
            .map(|(_, entries)| entries.trim_end_matches('}'));
        let cut = File {
            text: alone
                .map(|entries| entries.trim_end_matches(']').into())
                .unwrap_or_default(),
            ..entry
        };
        let text = "ranks 0, 1, 3 started nccl:all_reduce, and none of them has completed it";
        assert_eq!(with(Some(cut)), Some((Class::CollectiveStuck, text.into())));
        let completed = [0, 1, 2, 3].map(|rank| dump(rank, 6, reduce, "completed", 64));
        assert_eq!(hang(&completed), None);
    }
}
