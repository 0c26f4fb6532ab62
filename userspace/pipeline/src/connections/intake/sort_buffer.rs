//! Runs and control packets, sorted by their first times.
//!
//! The cache publishes a run when it ends, so runs of different streams come out of order by up to
//! a slice. They wait here until a turn reports that all older ones have arrived.

use crate::connections::intake::clock_skew::Correction;
use alloc::vec::Vec;
use rocescope_record::{HandshakeRecord, MadRecord, RunRecord};

/// The maximum number of waiting runs: 1,048,576, 128 MiB. Above it, the older half is processed early.
const MAX_WAITING: usize = 1 << 20;

/// A run or a control packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    Run(&'a RunRecord),
    Mad(&'a MadRecord),
    Handshake(&'a HandshakeRecord),
}

/// The waiting runs.
#[derive(Debug, Default)]
pub(crate) struct SortBuffer {
    runs: Vec<RunRecord>,
    /// Time and index of each run: sorted without access to the runs themselves.
    keys: Vec<(u64, u32)>,
    mads: Vec<MadRecord>,
    handshakes: Vec<HandshakeRecord>,
    /// Time, kind and index of the items, while they are sorted.
    sorted: Vec<(u64, u32)>,
    /// Runs processed before all older ones had arrived.
    pub(crate) hurried: u64,
}

/// The two upper bits of an index select the list.
const MADS: u32 = 1 << 30;
const HANDSHAKES: u32 = 1 << 31;
const INDEX: u32 = MADS - 1;

impl SortBuffer {
    #[inline]
    pub(crate) fn run(&mut self, run: &RunRecord) {
        self.keys.push((run.first_ns, self.runs.len() as u32));
        self.runs.push(*run);
    }

    pub(crate) fn mad(&mut self, record: &MadRecord) {
        if self.mads.len() < MAX_WAITING {
            self.mads.push(*record);
        }
    }

    pub(crate) fn handshake(&mut self, record: &HandshakeRecord) {
        if self.handshakes.len() < MAX_WAITING {
            self.handshakes.push(*record);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether the buffer is full: the older half must be processed early.
    pub(crate) fn is_full(&self) -> bool {
        self.runs.len() >= MAX_WAITING
    }

    /// Sorts all items that began before `watermark_ns`: [`items`](Self::items) returns them until
    /// [`forget`](Self::forget).
    pub(crate) fn sort(&mut self, watermark_ns: u64) {
        let Self {
            keys,
            mads,
            handshakes,
            sorted,
            ..
        } = self;
        sorted.clear();
        let old = |time_ns: u64| time_ns < watermark_ns;
        sorted.extend_from_slice(keys);
        sorted.extend((0..).zip(&*mads).map(|(at, mad)| (mad.time_ns, at | MADS)));
        sorted.extend(
            (0..)
                .zip(&*handshakes)
                .map(|(at, record)| (record.ack_ns, at | HANDSHAKES)),
        );
        sorted.retain(|(time_ns, _)| old(*time_ns));
        // Stable: runs of one stream that began at one time keep their order. Nearly sorted.
        sorted.sort_by_key(|(time_ns, _)| *time_ns);
    }

    /// The sorted items, oldest first, from the `from`th on.
    pub(crate) fn items(&self, from: usize) -> impl Iterator<Item = Item<'_>> {
        self.sorted.iter().skip(from).filter_map(|(_, at)| {
            let index = (at & INDEX) as usize;
            if at & HANDSHAKES != 0 {
                self.handshakes.get(index).map(Item::Handshake)
            } else if at & MADS != 0 {
                self.mads.get(index).map(Item::Mad)
            } else {
                self.runs.get(index).map(Item::Run)
            }
        })
    }

    /// Removes the items that were sorted for `watermark_ns`.
    pub(crate) fn forget(&mut self, watermark_ns: u64) {
        let old = |time_ns: u64| time_ns < watermark_ns;
        let Self {
            runs,
            keys,
            mads,
            handshakes,
            sorted,
            ..
        } = self;
        if sorted.len() >= runs.len() + mads.len() + handshakes.len() {
            runs.clear();
            keys.clear();
            mads.clear();
            handshakes.clear();
            return;
        }
        runs.retain(|run| !old(run.first_ns));
        keys.clear();
        keys.extend((0..).zip(&*runs).map(|(at, run)| (run.first_ns, at)));
        mads.retain(|mad| !old(mad.time_ns));
        handshakes.retain(|record| !old(record.ack_ns));
    }

    /// Removes the first `taken` of the sorted items, and no others.
    pub(crate) fn forget_first(&mut self, taken: usize) {
        let Self {
            runs,
            keys,
            mads,
            handshakes,
            sorted,
            ..
        } = self;
        sorted.truncate(taken);
        sorted.sort_unstable_by_key(|(_, at)| *at);
        let is_taken = |at: u32| sorted.binary_search_by_key(&at, |(_, at)| *at).is_ok();
        retain_numbered(runs, |at| !is_taken(at));
        retain_numbered(mads, |at| !is_taken(at | MADS));
        retain_numbered(handshakes, |at| !is_taken(at | HANDSHAKES));
        keys.clear();
        keys.extend((0..).zip(&*runs).map(|(at, run)| (run.first_ns, at)));
    }

    /// Moves the waiting runs of a pair of hosts whose skew has become known.
    pub(crate) fn correct(&mut self, correction: Correction) {
        self.runs.iter_mut().for_each(|run| correction.apply(run));
        let runs = (0..).zip(&self.runs);
        self.keys.clear();
        self.keys.extend(runs.map(|(at, run)| (run.first_ns, at)));
    }

    /// A time below which about half of the runs began.
    pub(crate) fn middle_ns(&self) -> u64 {
        let keys = self.keys.iter();
        let (first, last) = keys.fold((u64::MAX, 0), |(first, last), (ns, _)| (first.min(*ns), last.max(*ns)));
        first / 2 + last / 2 + 1
    }
}

/// Keeps those whose number `is_kept`.
fn retain_numbered<T>(list: &mut Vec<T>, is_kept: impl Fn(u32) -> bool) {
    let mut next = 0;
    list.retain(|_| {
        let at = next;
        next += 1;
        is_kept(at)
    });
}
