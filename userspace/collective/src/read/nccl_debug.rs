//! The log of NCCL (`NCCL_DEBUG=INFO`, `NCCL_DEBUG_SUBSYS=INIT,NET`): which rank has which queue pair.
//!
//! | line | what it gives |
//! |---|---|
//! | `HOST:PID:TID [GPU] NCCL INFO … rank R nranks N …` | the rank of a process |
//! | `HOST:PID:TID [GPU] NCCL INFO NET/IB: … qp_num Q … GID I (PREFIX/ID)` | a queue pair of it, and its address |
//! | `HOST:PID:TID [GPU] NCCL INFO NET/IB: … QP created: … qp_num=Q …` | a queue pair of it |
//!
//! The same number may be in use on several hosts; without the address, one that two ranks have ties nothing.
//!
//! A log never changes an analysis, it only names hosts: it rarely has the queue pairs of both ends of a step.

use super::File;
use crate::complaints::Complaints;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv6Addr};

/// Which rank has which queue pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranks {
    by_address: BTreeMap<(IpAddr, u32), u32>,
    /// Of lines without an address.
    by_number: BTreeMap<u32, BTreeSet<u32>>,
    /// What was skipped.
    pub complaints: Complaints,
}

/// Reads the logs of all processes; several may be in one file.
#[must_use]
pub fn read(files: &[File]) -> Ranks {
    let mut ranks = Ranks::default();
    for file in files {
        let mut processes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        let mut open = BTreeMap::new();
        for line in file.text.lines() {
            let Some((before, text)) = line.split_once(" NCCL INFO ") else {
                continue;
            };
            let Some((host, pid)) = process(before) else {
                continue;
            };
            let words = || text.split(|sign: char| sign.is_whitespace() || sign == ',');
            if words().any(|word| word == "nranks")
                && let Some(rank) = after(words(), "rank").and_then(|rank| rank.parse().ok())
            {
                // Of several communicators, the first one has all ranks.
                processes.entry((host, pid)).or_insert(rank);
            }
            let number = after(words(), "qp_num")
                .or_else(|| words().find_map(|word| word.strip_prefix("qp_num=")))
                .and_then(|number| number.parse::<u32>().ok());
            if let Some(qpn) = number {
                open.entry((host, pid))
                    .or_insert_with(Vec::new)
                    .push((qpn, address(text)));
            }
        }
        for (process, qps) in open {
            let Some(rank) = processes.get(&process) else {
                let kind = "queue pairs of a process whose rank no line states; NCCL_DEBUG_SUBSYS needs INIT too";
                ranks
                    .complaints
                    .add(kind, format!("{}: {}:{}", file.name, process.0, process.1));
                continue;
            };
            for (qpn, address) in qps {
                match address {
                    Some(address) => {
                        ranks.by_address.insert((address, qpn), *rank);
                    }
                    None => {
                        ranks.by_number.entry(qpn).or_default().insert(*rank);
                    }
                }
            }
        }
        if processes.is_empty() && !file.text.contains(" NCCL WARN ") {
            let kind = "no line of NCCL with a rank; NCCL_DEBUG=INFO writes them";
            ranks.complaints.add(kind, &file.name);
        }
    }
    ranks
}

/// Host and process of what NCCL writes before a message: `[TIME] HOST:PID:TID [GPU] FILE:LINE`.
pub(super) fn process(before: &str) -> Option<(&str, &str)> {
    before.split_whitespace().find_map(|word| {
        // A launcher may put its own names before the host.
        let mut names = word.rsplit(':');
        let (thread, pid, host) = (names.next()?, names.next()?, names.next()?);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|sign| sign.is_ascii_digit());
        // A time of the day has two numbers as well.
        (!host.is_empty() && !is_number(host) && is_number(pid) && is_number(thread)).then_some((host, pid))
    })
}

/// The word after this one.
fn after<'a>(mut words: impl Iterator<Item = &'a str>, key: &str) -> Option<&'a str> {
    words.find(|word| *word == key)?;
    words.next()
}

/// The address in a GID, whose halves are printed as numbers of the processor: `(0/100000AFFFF0000)` is 10.0.0.1.
fn address(text: &str) -> Option<IpAddr> {
    let halves = text.split_once(" GID ")?.1.split_once('(')?.1.split_once(')')?.0;
    let (prefix, id) = halves.split_once('/')?;
    let half = |digits: &str| u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok();
    let bits = u128::from(half(prefix)?.swap_bytes()) << 64 | u128::from(half(id)?.swap_bytes());
    Some(Ipv6Addr::from(bits).to_canonical())
}

/// A number in decimal or, after 0x, hexadecimal digits.
pub(super) fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Ranks {
    /// The rank of a queue pair; `None` if it is unknown or several ranks have one of this number.
    #[must_use]
    pub fn of(&self, address: Option<IpAddr>, qpn: u32) -> Option<u32> {
        let known = address.and_then(|address| self.by_address.get(&(address, qpn)));
        known.copied().or_else(|| {
            let ranks = self.by_number.get(&qpn)?;
            (ranks.len() == 1).then(|| ranks.first().copied())?
        })
    }
}
