//! Probes that their host could not send: when they are evidence, and about what.
//!
//! No network dropped such a probe, so it is no evidence about a path. It is evidence about NICs where its reason is
//! known and lasts:
//!
//! - The sender has no route, or its NIC is down: about the sender.
//! - The next hop did not answer: about both ends, which may be neighbours. A pair that sent a probe in the same window
//!   had found its next hop by then, so the probes before it only waited for that.
//!
//! Both need a host that probed through the whole window: a host that has just started is still resolving next hops.

use super::analyzer::Analyzer;
use super::cells::{Cell, Cells};
use super::place::FaultLocation;
use super::record::{Record, Unsent};
use super::tuples::{Key, Tuples};
use alloc::vec;
use alloc::vec::Vec;

/// A host has probed through a window if its first probe in it is due within this share: a tenth.
const BEGINNING: i64 = 10;

impl Analyzer {
    /// Drops unsent probes that are no evidence from the counts of cells; returns how many they are. Call it before
    /// [`totals`](Self::totals), which records the hosts of this window.
    pub(super) fn settle_unsent(&self, number: i64, cells: &mut Cells, records: &[Record]) -> u64 {
        let unsent: u64 = cells.all.iter().map(|cell| u64::from(cell.unsent)).sum();
        if unsent == 0 {
            return 0;
        }
        let whole = self.whole_hosts(number, records);
        let has_sent = pairs_that_sent(cells, &self.tuples);
        let mut kept = 0;
        for cell in &mut cells.all {
            let tuple = &self.tuples.all[cell.tuple as usize];
            let host = self.names.nics[tuple.key.src as usize].host;
            if !whole[host as usize] {
                (cell.stuck, cell.silent) = (0, 0);
            }
            if has_sent[tuple.pair as usize] {
                cell.silent = 0;
            }
            kept += u64::from(cell.stuck + cell.silent);
        }
        unsent - kept
    }

    /// Whether each host probed through the window: it did in the window before, or from the beginning.
    fn whole_hosts(&self, number: i64, records: &[Record]) -> Vec<bool> {
        let before = |host: usize| self.seen.get(host).is_some_and(|seen| *seen == number - 1);
        let mut whole: Vec<bool> = (0..self.names.hosts.len()).map(before).collect();
        for record in records.iter().filter(|record| record.is_of_sender()) {
            if record.offset_ns() <= self.settings.window_ns / BEGINNING {
                let src = self.tuples.all[record.tuple as usize].key.src;
                whole[self.names.nics[src as usize].host as usize] = true;
            }
        }
        whole
    }
}

fn pairs_that_sent(cells: &Cells, tuples: &Tuples) -> Vec<bool> {
    let mut sent = vec![false; tuples.pairs.len()];
    for cell in cells.all.iter().filter(|cell| cell.sent > 0) {
        sent[tuples.all[cell.tuple as usize].pair as usize] = true;
    }
    sent
}

impl Cell {
    /// The number of unsent probes of this cell that are evidence about a place.
    pub(crate) fn unsent_at(&self, place: FaultLocation, key: Key) -> u32 {
        match place {
            FaultLocation::Nic(nic) | FaultLocation::FromNic(nic) if key.src == nic => self.stuck + self.silent,
            FaultLocation::Nic(nic) | FaultLocation::ToNic(nic) if key.dst == nic => self.silent,
            FaultLocation::Pair { src, dst } if (src, dst) == (key.src, key.dst) => self.silent,
            _ => 0,
        }
    }

    /// Whether one of its unsent probes is among those.
    pub(crate) fn counts(&self, unsent: Unsent, place: FaultLocation, key: Key) -> bool {
        let sends = matches!(place, FaultLocation::Nic(nic) | FaultLocation::FromNic(nic) if key.src == nic);
        match unsent {
            Unsent::Nothing => false,
            Unsent::Sender => sends && self.stuck > 0,
            Unsent::Either => self.silent > 0 && self.unsent_at(place, key) > 0,
        }
    }
}
