//! A packet that fills a gap without a NAK for it: late, or the begin of a pass whose NAK did not pass the tap.
//!
//! What follows decides: a late packet is followed by new ones, a pass by packets that are repeated in order. A run ends
//! with its message, so the packets of a pass may be several runs.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::{Fill, Recovered};
use crate::connections::order::classification::{Classification, TIMER_NS};
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap};
use crate::connections::requests::recovery::{Episode, Trigger};
use crate::connections::requests::request::RequestRun;
use crate::connections::requests::retransmission::EVIDENT;
use crate::time::EventTime;
use alloc::boxed::Box;

impl Direction {
    /// Packets that others overtook fill gaps: whether what follows may show that they were repeated.
    pub(crate) fn fill(&mut self, seen: &RequestRun<'_>) -> bool {
        let [gap] = seen.filled[..] else {
            return false;
        };
        let in_pass = self.send_sequence.next() <= self.requests.high();
        if in_pass || seen.all.repeated >= EVIDENT || seen.all.above > 0 || self.duplicates_by_delay.is_some() {
            return false;
        }
        self.pending.lists().fill = Some(Fill {
            gap,
            time_ns: seen.run.first_ns,
            next: seen.last + 1,
            repeated: seen.all.repeated,
            duplicates: 0,
        });
        true
    }

    /// A run passes after a packet that filled a gap. Returns its classification.
    pub(crate) fn follow_fill(
        &mut self,
        (first, last): (ExtendedPsn, ExtendedPsn),
        classification: Classification,
        now_ns: u64,
        context: &mut Context<'_>,
    ) -> Classification {
        let Some(mut fill) = self.pending.get_mut().and_then(|lists| lists.fill.take()) else {
            return classification;
        };
        let high = self.requests.high();
        if fill.next == first && first <= high && !self.requests.gaps().overlaps(first, last.min(high)) {
            fill.repeated += last.min(high) + 1 - first;
            let is_pass = matches!(classification, Classification::Retransmitted(_)) || fill.repeated >= EVIDENT;
            if is_pass && last - fill.gap.first >= EVIDENT {
                self.begin_with(&fill, first, context);
                return Classification::InOrder;
            }
            if classification == Classification::Duplicate && last <= high {
                fill.duplicates += last + 1 - first;
                fill.next = last + 1;
                self.pending.lists().fill = Some(fill);
                return classification;
            }
        }
        self.learn_late(&[fill.gap], fill.time_ns, now_ns, context);
        classification
    }

    /// The sender went back to the packet that filled the gap; the pass goes on at `next`.
    fn begin_with(&mut self, fill: &Fill, next: ExtendedPsn, context: &mut Context<'_>) {
        let Fill { gap, time_ns, .. } = *fill;
        let packets = gap.packets();
        self.counts.out_of_order -= packets;
        self.counts.duplicate -= fill.duplicates;
        self.counts.retransmitted += packets + fill.duplicates;
        if !context.may_have_passed(&gap) {
            let recovered = Recovered {
                opened_ns: gap.value.opened_ns,
                passed_ns: time_ns,
            };
            self.recovered((gap.first, gap.last), recovered, context);
        }
        self.end_episode(context.emit);
        let trigger = self.fill_trigger(&gap, time_ns);
        self.count_recovery((trigger, None), (gap.first, time_ns), false, context);
        self.send_sequence.begin(gap.first, self.requests.high());
        self.send_sequence.take((gap.first, next - 1), (time_ns, time_ns), true);
        self.episode = Some(Box::new(Episode {
            trigger,
            first: gap.first,
            begun_ns: time_ns,
            packets: packets + fill.duplicates,
            is_repeat: false,
            is_needed: false,
            passed_before_ns: time_ns.since(gap.value.opened_ns),
            reaction_ns: None,
            before: None,
        }));
    }

    /// Why the sender went back: its timer, if nothing passed for so long.
    fn fill_trigger(&self, gap: &Gap, time_ns: u64) -> Trigger {
        let silent_ns = time_ns.since(gap.value.opened_ns.max(self.answered_ns));
        if silent_ns > TIMER_NS {
            Trigger::Timeout
        } else {
            Trigger::Unseen
        }
    }
}
