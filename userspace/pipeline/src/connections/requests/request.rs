//! Processes a run of requests: repeated PSNs, filled gaps, new gaps.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::classification::Classification;
use crate::connections::order::psn_tracker::{Arrival, ExtendedPsn, Gap};
use crate::connections::order::responder::Responder;
use crate::connections::order::send_sequence::SendSequence;
use crate::connections::requests::messages::is_answered;
use crate::connections::requests::outstanding::OutstandingRequests;
use crate::connections::requests::reads::UNKNOWN;
use crate::connections::requests::retransmission::ClassifiedRun;
use crate::connections::responses::rounds::Question;
use crate::time::EventTime;
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_wire::{Operation, Transport};

/// A run of requests, and what the packets before it show of it.
pub(crate) struct RequestRun<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    pub(crate) is_read: bool,
    /// A READ or atomic, whose response is its acknowledgement.
    pub(crate) is_answered: bool,
    /// It follows the packet that its sender transmitted before.
    pub(crate) continues: bool,
    /// When the run before passed.
    pub(crate) before_ns: u64,
    /// The highest PSN before.
    pub(crate) high: ExtendedPsn,
    /// The last PSN up to which it consists of copies by a mirror.
    pub(crate) copied_until: Option<ExtendedPsn>,
    /// How long ago it passed, if nothing requested it again.
    pub(crate) repeated_after_ns: Option<u64>,
    pub(crate) classification: Classification,
    /// After the copied packets the sender continues here.
    pub(crate) in_order: ExtendedPsn,
    /// Duplicate PSNs at its front, the rest, and both.
    pub(crate) copied: Arrival,
    pub(crate) arrival: Arrival,
    pub(crate) all: Arrival,
    pub(crate) filled: Vec<Gap>,
}

impl RequestRun<'_> {
    /// Nothing of it continues after the duplicate.
    fn is_duplicate(&self) -> bool {
        self.classification == Classification::Duplicate && self.in_order == self.first
    }
}

impl Direction {
    /// Processes a run of requests. Returns what it requests again of responses.
    pub(crate) fn request(&mut self, run: &RunRecord, context: &mut Context<'_>) -> Option<Question> {
        if run.opcode().transport() == Transport::Mrc {
            self.marked_request(run, context);
            return None;
        }
        let mut seen = self.classified(run, context);
        self.take_psns(&mut seen, context);
        self.learn_duplicates(&seen);
        if let Some(gap) = &seen.all.displaced {
            self.count_unfilled_gap(gap, true);
        }
        self.counts.request_packets += u64::from(run.packets);
        if self.start.is_none() || self.start_is_open && seen.first < self.requests_start() {
            self.start = Some(seen.first);
        }
        let read = seen
            .is_read
            .then(|| seen.all.repeated > 0 && self.outstanding.read_from(seen.first));
        self.last_request_ns = run.last_ns();
        self.count_new(run, &seen.all, seen.is_read);
        if seen.copied_until.is_some_and(|until| until >= seen.last) && self.sprayed.is_none() {
            self.counts.repeated += u64::from(run.packets);
            self.counts.duplicate += u64::from(run.packets);
            self.outstanding.copied(seen.first, seen.last);
            return None;
        }
        let question = self.question(&seen);
        if self.transport == Transport::Uc {
            self.unacknowledged(&seen.all, &seen.filled, run.first_ns, context);
            self.count_messages(run, seen.first, seen.last, &seen.all);
            return None;
        }
        if self.sprayed.is_some() {
            self.count_sprayed(&seen, context);
        } else {
            self.count_ordered(&seen, read, context);
        }
        question
    }

    /// Its PSNs and its classification, before they change the state.
    fn classified<'a>(&mut self, run: &'a RunRecord, context: &mut Context<'_>) -> RequestRun<'a> {
        let operation = run.opcode().operation();
        let first = self.requests.extended(run.first_psn());
        self.guess_read(first, context.mtu);
        let is_read = operation == Operation::RdmaReadRequest;
        let last = if is_read {
            let is_cut = run.msn_or_dma_length == 0 && run.flags & RunRecord::CUT_SHORT != 0;
            let dma_length = if is_cut { UNKNOWN } else { run.msn_or_dma_length };
            self.read_end(first, dma_length, context.mtu)
        } else {
            first + u64::from(run.packets) - 1
        };
        let continues = self.send_sequence.is_followed_by(first);
        if !self.requests.is_started() || self.counts.request_packets == 0 {
            self.first_request_ns = run.first_ns;
        }
        let is_answered = is_answered(operation);
        self.settle_suspected_losses(run.first_ns, context);
        self.learn_selective(first, run.first_ns, context);
        let high = self.requests.high();
        let copied_until = self.copied_until(run, (first, last));
        let repeated_after_ns = self.unasked_repeat((first, last), run.first_ns, context);
        let classification = match self.sprayed {
            None if self.transport == Transport::Uc => Classification::InOrder,
            Some(_) => Classification::InOrder,
            None if copied_until.is_some() => Classification::Duplicate,
            None => {
                let classification = self.classify(run, (first, last), is_answered, context);
                self.follow_fill((first, last), classification, run.first_ns, context)
            }
        };
        let next = self.send_sequence.next();
        let in_order = match copied_until {
            Some(until) if until < last => until + 1,
            None if classification == Classification::Duplicate && last >= next && !is_read => next,
            _ => first,
        };
        RequestRun {
            run,
            first,
            last,
            is_read,
            is_answered,
            continues,
            before_ns: self.last_request_ns,
            high,
            copied_until,
            repeated_after_ns,
            classification,
            in_order,
            copied: Arrival::default(),
            arrival: Arrival::default(),
            all: Arrival::default(),
            filled: Vec::new(),
        }
    }

    /// Enters its PSNs: new ones, filled gaps, repeated ones.
    fn take_psns(&mut self, seen: &mut RequestRun<'_>, context: &mut Context<'_>) {
        let times = (seen.before_ns, seen.run.first_ns);
        let filled = &mut seen.filled;
        let mut take = |from: ExtendedPsn, to: ExtendedPsn| {
            self.requests
                .take(from, to, times, false, &mut |part| filled.push(part))
        };
        if seen.in_order > seen.first {
            seen.copied = take(seen.first, seen.in_order - 1);
        }
        seen.arrival = take(seen.in_order, seen.last);
        let is_ahead = seen.last > seen.high && seen.last - seen.high > seen.last - seen.in_order + 1;
        if is_ahead && !seen.arrival.restarted {
            context.mirror_loss.opened(seen.before_ns, seen.run.first_ns);
        }
        seen.all = if seen.in_order > seen.first {
            seen.copied.and(seen.arrival)
        } else {
            seen.arrival
        };
        if seen.is_duplicate() {
            seen.copied = seen.arrival;
        }
        if seen.is_duplicate() && !seen.all.restarted {
            seen.arrival = Arrival::default();
        }
        if seen.all.restarted {
            seen.classification = Classification::InOrder;
            self.counts.restarts += 1;
            self.settle_recovered(u64::MAX, context);
            self.restart();
        }
    }

    /// The rest for a direction whose order shows what its sender did.
    fn count_ordered(&mut self, seen: &RequestRun<'_>, read: Option<bool>, context: &mut Context<'_>) {
        let (run, first, last, all) = (seen.run, seen.first, seen.last, &seen.all);
        if let Some(gap) = seen.filled.first() {
            // An answer for packets after a gap may be for the packet that fills it.
            self.outstanding.mark_ambiguous(gap.first);
        }
        // A copy by a mirror shows nothing.
        let is_copied = self
            .duplicates_by_delay
            .as_ref()
            .is_some_and(|duplicates| duplicates.is_certain());
        if all.repeated > 0 && !is_copied {
            self.refute_losses((first, last), run.first_ns, context);
        }
        let classified = ClassifiedRun {
            classification: seen.classification,
            first: seen.in_order,
            last,
            arrival: seen.arrival,
            copied: seen.copied,
            before_ns: seen.before_ns,
            read,
        };
        let before = self.counts.retransmitted;
        self.account(run, &classified, &seen.filled, context);
        if let Some(duplicates) = self
            .duplicates_by_delay
            .as_mut()
            .filter(|_| seen.repeated_after_ns.is_some())
        {
            duplicates.supposed += self.counts.retransmitted - before;
        }
        if seen.classification == Classification::Reordered && !self.fill(seen) {
            self.learn_late(&seen.filled, run.first_ns, run.first_ns, context);
        }
        if seen.classification == Classification::Duplicate {
            let until = if seen.in_order > first { seen.in_order - 1 } else { last };
            self.outstanding.copied(first, until);
        } else if all.repeated + all.filled > 0 {
            self.outstanding.retransmitted(first, last, run.last_ns());
        }
        if self.start_is_open && all.below > 0 {
            self.responder.begin_below(first, last);
        }
        if let Some(lost) = self.arrive(seen, context) {
            self.pending.suspect(lost, run.first_ns);
        }
        self.count_messages(run, first, last, all);
        let times = (run.first_ns, run.last_ns());
        let is_overtaken = matches!(
            seen.classification,
            Classification::Reordered | Classification::Overtaken
        );
        self.send_sequence.take((first, last), times, !is_overtaken);
        // Acknowledged packets were not lost, even if their gap shows late.
        self.settle_gaps(context);
    }

    /// Packets that others overtook filled these gaps at `passed_ns`.
    pub(crate) fn learn_late(&mut self, filled: &[Gap], passed_ns: u64, now_ns: u64, context: &mut Context<'_>) {
        for gap in filled.iter().filter(|gap| !context.may_have_passed(gap)) {
            let late_ns = passed_ns.since(gap.value.opened_ns);
            let position = (self.counts.request_packets, self.requests.high() - gap.first);
            self.reordering.learn(gap.packets(), late_ns, position, now_ns);
        }
        self.learn_spray(now_ns, context);
    }

    /// The rest for a sprayed direction.
    fn count_sprayed(&mut self, seen: &RequestRun<'_>, context: &mut Context<'_>) {
        let (run, first, last) = (seen.run, seen.first, seen.last);
        let (all, filled) = (&seen.all, &seen.filled);
        self.counts.repeated += all.repeated;
        let duplicates = self.counts.duplicate;
        self.sprayed_requests(run, (first, last), all, filled, context);
        if let Some(gap) = filled.first() {
            // The receiver answers what follows only now.
            self.outstanding.completed_by(gap.first, run.last_ns());
        }
        if self.counts.duplicate > duplicates {
            self.outstanding.copied(first, last);
        } else if all.repeated > 0 {
            self.sprayed_repeated((first, last), run.last_ns());
        }
        let _ = self.arrive(seen, context);
        self.count_messages(run, first, last, all);
        if all.above > 0 {
            self.send_sequence
                .take((first, last), (run.first_ns, run.last_ns()), true);
        }
        self.settle_gaps(context);
    }

    /// The responder gets all of the run but what was trimmed. Returns the loss that this confirms.
    fn arrive(&mut self, seen: &RequestRun<'_>, context: &mut Context<'_>) -> Option<(ExtendedPsn, u64)> {
        let (first, last) = (seen.first, seen.last);
        let Some(trimmed) = self.trimmed_psns(seen, context.mtu) else {
            if let Some(lists) = self.pending.get_mut() {
                lists.trimmed.remove(first, last, &mut |_| {});
            }
            return self.responder.arrive(first, last);
        };
        let mut lost = None;
        if first < trimmed.0 {
            lost = self.responder.arrive(first, trimmed.0 - 1);
        }
        self.lose_trimmed(trimmed, seen.run, context);
        if trimmed.1 < last {
            lost = self.responder.arrive(trimmed.1 + 1, last).or(lost);
        }
        lost
    }

    fn requests_start(&self) -> ExtendedPsn {
        self.start.unwrap_or(ExtendedPsn::MAX)
    }

    pub(crate) fn restart(&mut self) {
        self.start = None;
        self.start_is_open = true;
        (self.acked, self.acked_before) = (0, 0);
        self.outstanding = OutstandingRequests::default();
        self.send_sequence = SendSequence::default();
        self.responder = Responder::default();
        self.pending.clear();
        self.sprayed = None;
        self.naks = [None; 2];
        self.episode = None;
        self.rnr = None;
        self.tries = 0;
        self.resolved = self.counts.retransmitted;
        self.pending_timeout = None;
        self.retries_exhausted = false;
    }
}
