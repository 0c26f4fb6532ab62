//! The probes of a window, grouped by 5-tuple and path: the unit of all other counts.

use super::by_key::ByKey;
use super::record::{ProbeOutcome, Record, Unsent};
use super::tuples::{Tuples, Version};
use alloc::vec;
use alloc::vec::Vec;

/// Probes of one 5-tuple over one path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) tuple: u32,
    pub(crate) path: Option<Version>,
    /// Sent: received, timed out, or corrupt.
    pub(crate) sent: u32,
    pub(crate) corrupt: u32,
    /// Timed out or corrupt.
    pub(crate) drops: u32,
    /// Drops that the paper's rules attribute to switches.
    pub(crate) switch_drops: u32,
    pub(crate) unsent: u32,
    /// Of those, evidence about the sender.
    pub(crate) stuck: u32,
    /// Of those, evidence about both ends.
    pub(crate) silent: u32,
    /// Received, with a latency.
    pub(crate) timed: u32,
    /// Of those, late compared with the baseline.
    pub(crate) late: u32,
    /// Received, and the latency of the reverse direction is known.
    pub(crate) compared: u32,
    /// Of those, late compared with the reverse direction.
    pub(crate) slower: u32,
    /// How often drops and arrivals took turns.
    pub(crate) turns: u32,
    pub(crate) was_lost: Option<bool>,
}

/// The cells of a window, and which cell each record is in.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) all: Vec<Cell>,
    of_record: Vec<u32>,
}

impl Cells {
    /// Groups the records of a window that starts at `start_ns`.
    pub(crate) fn group(records: &[Record], start_ns: i64, tuples: &Tuples) -> Self {
        let mut all: Vec<Cell> = Vec::new();
        let mut first = vec![u32::MAX; tuples.all.len()];
        let mut of_record = Vec::with_capacity(records.len());
        for record in records {
            let at_ns = start_ns + record.offset_ns();
            let changed = tuples.has_changed(record.tuple);
            let slot = first.get_mut(record.tuple as usize);
            let known = slot.as_deref().copied().filter(|cell| *cell != u32::MAX);
            let cell = match known {
                Some(cell) if !changed => cell,
                _ => {
                    let path = tuples.path_at(record.tuple, at_ns);
                    let same = |cell: &Cell| cell.tuple == record.tuple && cell.path == path;
                    // The cells of one changed 5-tuple are few, but need not be adjacent.
                    let found = known.and_then(|from| {
                        let later = all.iter().skip(from as usize);
                        later.clone().position(same).map(|i| from as usize + i)
                    });
                    let cell = found.unwrap_or(all.len());
                    if found.is_none() {
                        all.push(Cell::new(record.tuple, path));
                    }
                    let cell = u32::try_from(cell).unwrap_or(u32::MAX);
                    if let (None, Some(slot)) = (known, slot) {
                        *slot = cell;
                    }
                    cell
                }
            };
            of_record.push(cell);
            all[cell as usize].count(record.outcome());
        }
        Self { all, of_record }
    }

    /// Calls `each` for every record and its cell.
    pub(crate) fn update(&mut self, records: &[Record], mut each: impl FnMut(&mut Cell, &Record)) {
        for (cell, record) in self.of_record.iter().zip(records) {
            each(&mut self.all[*cell as usize], record);
        }
    }

    /// The positions of the records of each cell.
    pub(crate) fn records(&self) -> ByKey<u32> {
        ByKey::group(self.all.len(), self.of_record.iter().copied().zip(0..))
    }
}

impl Cell {
    const fn new(tuple: u32, path: Option<Version>) -> Self {
        Self {
            tuple,
            path,
            sent: 0,
            corrupt: 0,
            drops: 0,
            switch_drops: 0,
            unsent: 0,
            stuck: 0,
            silent: 0,
            timed: 0,
            late: 0,
            compared: 0,
            slower: 0,
            turns: 0,
            was_lost: None,
        }
    }

    fn count(&mut self, outcome: ProbeOutcome) {
        if let ProbeOutcome::Received | ProbeOutcome::Timeout | ProbeOutcome::Corrupt = outcome {
            let is_lost = Some(outcome.is_drop());
            self.turns += u32::from(self.was_lost.is_some() && self.was_lost != is_lost);
            self.was_lost = is_lost;
        }
        match outcome {
            ProbeOutcome::Unsent(why) => {
                self.unsent += 1;
                match why {
                    Unsent::Nothing => {}
                    Unsent::Sender => self.stuck += 1,
                    Unsent::Either => self.silent += 1,
                }
            }
            ProbeOutcome::Unknown => {}
            ProbeOutcome::Received => self.sent += 1,
            ProbeOutcome::Timeout => {
                self.sent += 1;
                self.drops += 1;
            }
            ProbeOutcome::Corrupt => {
                self.sent += 1;
                self.drops += 1;
                self.corrupt += 1;
            }
        }
    }
}
