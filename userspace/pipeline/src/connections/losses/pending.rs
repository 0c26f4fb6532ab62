//! What the packets so far do not decide: the copies that pass later, or the answers, will.

use crate::connections::order::intervals::{Interval, Intervals};
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap};
use crate::connections::requests::recovery::PendingTimeout;
use crate::connections::rows::event::LossEvidence;
use crate::time::EventTime;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Packets of a direction that a NAK named although they had passed, until their acknowledgement.
pub(crate) const MAX_SUSPECTS: usize = 32;

/// A packet that passed and that a NAK named: if it was transmitted again, the answer decides whether it was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspect {
    pub(crate) psn: ExtendedPsn,
    pub(crate) nak_ns: u64,
    pub(crate) resent_ns: Option<u64>,
    /// The receiver is known to keep early packets, so that it did not request this one because of the order.
    pub(crate) is_kept: bool,
    /// When it passed, if it was late.
    pub(crate) late_ns: Option<u64>,
}

impl Suspect {
    /// Whether the receiver may have requested it because it was late: the NAK followed within the shortest round trip, or
    /// none is known.
    pub(crate) fn was_late(&self, nak_ns: u64, round_trip_ns: Option<u64>) -> bool {
        let may_precede = |late_ns| round_trip_ns.is_none_or(|ns| nak_ns.since(late_ns) <= ns);
        self.late_ns.is_some_and(may_precede)
    }
}

/// A packet passed alone, after a NAK for it: late, or transmitted again. If its next copy passes, it was late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspectedLoss {
    /// What its first copy left, and how late this one would be.
    pub(crate) evidence: LossEvidence,
    pub(crate) late_ns: u64,
    pub(crate) nak_ns: u64,
    pub(crate) passed_ns: u64,
}

/// A retransmission filled a gap. Its first copy was lost upstream, unless it passes after its own retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovered {
    pub(crate) opened_ns: u64,
    pub(crate) passed_ns: u64,
}

/// A packet that filled a gap out of order. It was late, unless the packets after it are repeated too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) gap: Gap,
    /// When it passed.
    pub(crate) time_ns: u64,
    /// The PSN that would continue it.
    pub(crate) next: ExtendedPsn,
    /// The packets after it that were repeated, and those of them that count as duplicates.
    pub(crate) repeated: u64,
    pub(crate) duplicates: u64,
}

/// PSNs that a retransmission did not repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skip {
    /// Time of the packet after them.
    pub(crate) time_ns: u64,
    /// The packet after them was a repeat too: the sender had not gone on to new ones.
    pub(crate) is_within: bool,
    /// A NAK began the pass: the receiver dropped what had passed before.
    pub(crate) is_needed: bool,
    /// The sender had the time to repeat them.
    pub(crate) is_burst: bool,
    /// Time of the packet before them.
    pub(crate) before_ns: u64,
    /// How many were skipped together.
    pub(crate) packets: u64,
}

/// The pending packets of a direction; allocated only when there are some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(Option<Box<Lists>>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    /// They were lost upstream if another retransmission brings them.
    pub(crate) skipped: Intervals<Skip>,
    pub(crate) suspected: Intervals<SuspectedLoss>,
    pub(crate) recovered: Intervals<Recovered>,
    pub(crate) suspects: Vec<Suspect>,
    /// What was late last, and when it passed.
    pub(crate) late: Option<Interval<u64>>,
    /// Filled a gap while the sender had not gone back, as far as was known.
    pub(crate) fill: Option<Fill>,
    /// These passed without their payload.
    pub(crate) trimmed: Intervals<()>,
    /// Timeouts whose packets were answered, and that a second answer would explain.
    pub(crate) timeouts: Vec<PendingTimeout>,
}

impl Pending {
    /// Bytes that they have allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |lists| {
            size_of::<Lists>()
                + lists.skipped.heap_bytes()
                + lists.suspected.heap_bytes()
                + lists.recovered.heap_bytes()
                + lists.suspects.capacity() * size_of::<Suspect>()
                + lists.trimmed.heap_bytes()
                + lists.timeouts.capacity() * size_of::<PendingTimeout>()
        })
    }

    pub(crate) fn get(&self) -> Option<&Lists> {
        self.0.as_deref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut Lists> {
        self.0.as_deref_mut()
    }

    pub(crate) fn lists(&mut self) -> &mut Lists {
        self.0.get_or_insert_default()
    }

    /// Forgets everything but what will be lost in time.
    pub(crate) fn clear(&mut self) {
        if let Some(lists) = self.0.take()
            && !lists.recovered.is_empty()
        {
            self.lists().recovered = lists.recovered;
        }
    }

    /// The packet was transmitted again at `resent_ns`, after a NAK.
    pub(crate) fn suspect(&mut self, (psn, nak_ns): (ExtendedPsn, u64), resent_ns: u64) {
        let late_ns = self.late_at(psn);
        let suspects = &mut self.lists().suspects;
        if suspects.len() < MAX_SUSPECTS {
            suspects.push(Suspect {
                psn,
                nak_ns,
                resent_ns: Some(resent_ns),
                is_kept: true,
                late_ns,
            });
        }
    }

    /// These passed after higher ones.
    pub(crate) fn note_late(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), value: u64) {
        self.lists().late = Some(Interval { first, last, value });
    }

    /// When `psn` passed, if nothing was late after it.
    pub(crate) fn late_at(&self, psn: ExtendedPsn) -> Option<u64> {
        let late = self.get()?.late?;
        late.holds(psn).then_some(late.value)
    }

    /// Whether no time decides any of them.
    pub(crate) fn is_clear(&self) -> bool {
        self.get().is_none_or(|lists| {
            lists.suspected.is_empty()
                && lists.recovered.is_empty()
                && lists.suspects.is_empty()
                && lists.timeouts.is_empty()
                && lists.fill.is_none()
        })
    }

    /// Whether `psn` passed alone.
    pub(crate) fn is_suspected(&self, psn: ExtendedPsn) -> bool {
        self.get().is_some_and(|lists| lists.suspected.at(psn).is_some())
    }

    /// These passed alone.
    pub(crate) fn suspect_loss(&mut self, (first, last): (ExtendedPsn, ExtendedPsn), value: SuspectedLoss) {
        let suspected = &mut self.lists().suspected;
        suspected.remove(first, last, &mut |_| {});
        // Without room, the fate of the lowest is unknown.
        let _ = suspected.insert(Interval { first, last, value });
    }

    /// Retransmissions filled these. Returns what there was no room for.
    pub(crate) fn recover(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        value: Recovered,
    ) -> Option<Interval<Recovered>> {
        self.lists().recovered.insert(Interval { first, last, value })
    }

    /// The retransmission of these, if it filled a gap.
    pub(crate) fn recovered_at(&self, first: ExtendedPsn, last: ExtendedPsn) -> Option<Recovered> {
        let recovered = self.get()?.recovered.at(first)?;
        (last <= recovered.last).then_some(recovered.value)
    }

    /// Takes the doubts that `is_decided`.
    pub(crate) fn take_suspected(
        &mut self,
        is_decided: impl Fn(&Interval<SuspectedLoss>) -> bool,
    ) -> Vec<Interval<SuspectedLoss>> {
        let Some(lists) = self.get_mut() else {
            return Vec::new();
        };
        let decided: Vec<Interval<SuspectedLoss>> = lists
            .suspected
            .iter()
            .filter(|loss| is_decided(loss))
            .copied()
            .collect();
        for loss in &decided {
            lists.suspected.remove(loss.first, loss.last, &mut |_| {});
        }
        decided
    }

    /// These were skipped, and passed late.
    pub(crate) fn passed(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        if let Some(lists) = self.get_mut() {
            lists.skipped.remove(first, last, &mut |_| {});
        }
    }

    /// The peer has everything up to `psn`, and what a retransmission skipped of it with it: of all skipped ranges (`all`),
    /// or of those that the receiver had dropped before. Calls `missed` with the number of each of the latter.
    pub(crate) fn arrived(&mut self, psn: ExtendedPsn, all: bool, mut missed: impl FnMut(u64)) {
        let Some(lists) = self.get_mut() else {
            return;
        };
        lists.trimmed.remove(0, psn, &mut |_| {});
        let arrived = |skip: &Interval<Skip>| skip.first <= psn && (all || skip.value.is_needed);
        loop {
            let next = lists.skipped.iter().find(|skip| arrived(skip)).copied();
            let Some(skip) = next else { break };
            if skip.value.is_needed {
                missed(skip.value.packets);
            }
            lists.skipped.remove(skip.first, skip.last.min(psn), &mut |_| {});
        }
    }

    /// Whether the last copy of `psn` that passed was trimmed.
    pub(crate) fn is_trimmed(&self, psn: ExtendedPsn) -> bool {
        self.get().is_some_and(|lists| lists.trimmed.at(psn).is_some())
    }

    /// The range of skipped PSNs with `psn`, and when it was skipped.
    pub(crate) fn skipped_at(&self, psn: ExtendedPsn) -> Option<SkippedRange> {
        let skipped = self.get()?.skipped.at(psn)?;
        Some(SkippedRange {
            first: skipped.first,
            last: skipped.last,
            time_ns: skipped.value.time_ns,
        })
    }
}

/// PSNs that a retransmission skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkippedRange {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// Time of the packet after them.
    pub(crate) time_ns: u64,
}
