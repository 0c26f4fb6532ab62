//! Requests that a mirror duplicates: the signs of it, and which packets of a run are copies.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::duplicates::by_delay::DuplicatesByDelay;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::requests::request::RequestRun;
use crate::time::EventTime;
use rocescope_record::RunRecord;

impl Direction {
    /// The last PSN up to which the run consists of copies by a mirror.
    pub(crate) fn copied_until(&mut self, run: &RunRecord, psns: (ExtendedPsn, ExtendedPsn)) -> Option<ExtendedPsn> {
        let high = self.requests.high();
        let duplicates = self.duplicates_by_delay.as_mut()?;
        let is_learnt = duplicates.look(psns, high);
        let before = |psn| self.send_sequence.time_of(psn);
        let copied_until = duplicates.copied_until((psns.0, psns.1.min(high)), run.first_ns, before);
        if duplicates.is_over() {
            self.duplicates_by_delay = None;
        }
        if is_learnt {
            self.copies_are_certain();
        }
        copied_until
    }

    /// Learns from a run whether a mirror duplicates packets.
    pub(crate) fn learn_duplicates(&mut self, seen: &RequestRun<'_>) {
        // A READ or atomic is also repeated because its response did not arrive.
        let may_be_sign = seen.all.filled == 0 && seen.copied_until.is_none() && !seen.is_answered;
        if let Some(delay_ns) = seen.repeated_after_ns.filter(|_| may_be_sign) {
            let duplicates = self.duplicates_by_delay.get_or_insert_with(DuplicatesByDelay::new);
            if seen.first < seen.high {
                duplicates.repeated(seen.last, delay_ns);
            } else if duplicates.last_repeated(delay_ns) {
                self.copies_are_certain();
            }
        }
        if let Some(duplicates) = &mut self.duplicates_by_delay
            && seen.copied_until.is_none_or(|until| until < seen.last)
        {
            // The time of the first packet after the copies is unknown, and may be long after them.
            let since_ns = if seen.copied_until.is_some() {
                seen.run.last_ns()
            } else {
                seen.run.first_ns
            };
            duplicates.passed((seen.in_order, seen.last), (since_ns, seen.run.last_ns()));
        }
    }

    /// What looked like a sender that went back were copies.
    fn copies_are_certain(&mut self) {
        self.pending.clear();
        self.send_sequence.rewind(self.requests.high() + 1);
        (self.episode, self.pending_timeout, self.tries) = (None, None, 0);
        let supposed = self
            .duplicates_by_delay
            .as_mut()
            .map_or(0, |duplicates| core::mem::take(&mut duplicates.supposed));
        self.counts.retransmitted -= supposed;
        self.counts.duplicate += supposed;
    }

    /// How long ago the packets last passed, if the sender had sent others since, and no NAK asked for them.
    pub(crate) fn unasked_repeat(
        &self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        now_ns: u64,
        context: &Context<'_>,
    ) -> Option<u64> {
        let high = self.requests.high();
        if last >= high && first != high {
            return None;
        }
        let passed_ns = self.send_sequence.time_of(first)?;
        let mut naks = self.naks.iter().flatten();
        let is_asked = naks.any(|nak| nak.psn <= first && nak.time_ns >= passed_ns);
        let delay_ns = now_ns.since(passed_ns);
        (!is_asked && delay_ns <= context.duplicate_ns).then_some(delay_ns)
    }
}
