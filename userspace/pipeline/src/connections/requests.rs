//! Processes a run of requests: repeated PSNs, filled gaps, new gaps.

use super::captured_twice::CapturedTwice;
use super::classification::Classification;
use super::context::Context;
use super::direction::Direction;
use super::new_payload::unique;
use super::outstanding::{Answer, OutstandingRequest, OutstandingRequests};
use super::psn_tracker::{Arrival, ExtendedPsn, Gap};
use super::recovery::Trigger;
use super::responder::Responder;
use super::response_rounds::{Question, RequesterTimes};
use super::retransmission::ClassifiedRun;
use super::send_sequence::SendSequence;
use crate::time::EventTime;
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_wire::extension::psn_after_read;
use rocescope_wire::{Operation, Position, Psn, Transport};

/// All path MTUs (IBTA volume 1, 9.7.1).
const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// After this many READs without a response, responses are not seen: only distances between READs show the MTU.
const UNANSWERED: u64 = 16;

impl Direction {
    /// Processes a run of requests. Returns what it requests again of responses.
    pub(crate) fn request(&mut self, run: &RunRecord, context: &mut Context<'_>) -> Option<Question> {
        if run.opcode().transport() == Transport::Mrc {
            self.marked_request(run, context);
            return None;
        }
        let operation = run.opcode().operation();
        let first = self.requests.extended(run.first_psn());
        self.guess_read(first, context.mtu);
        let is_read = operation == Operation::RdmaReadRequest;
        let last = if is_read {
            self.read_end(first, run.msn_or_dma_length, context.mtu)
        } else {
            first + u64::from(run.packets) - 1
        };
        let before_ns = self.last_request_ns;
        let continues = self.send_sequence.is_followed_by(first);
        if !self.requests.is_started() || self.counts.request_packets == 0 {
            self.first_request_ns = run.first_ns;
        }
        let is_answered = is_answered(operation);
        self.settle_doubts(run.first_ns, context);
        self.learn_selective(first, run.first_ns, context);
        let is_uc = self.transport == Transport::Uc;
        let high = self.requests.high();
        let copied_until = self.copied_until(run, (first, last));
        let repeat = self.unasked_repeat((first, last), run.first_ns, context);
        let classification = match self.sprayed {
            None if is_uc => Classification::InOrder,
            Some(_) => Classification::InOrder,
            None if copied_until.is_some() => Classification::Duplicate,
            None => self.classify(run, (first, last), is_answered, context),
        };
        // After the copied packets the sender continues.
        let next = self.send_sequence.next();
        let in_order = match copied_until {
            Some(until) if until < last => until + 1,
            None if classification == Classification::Duplicate && last >= next && !is_read => next,
            _ => first,
        };
        let mut filled: Vec<Gap> = Vec::new();
        let mut take = |from: ExtendedPsn, to: ExtendedPsn| {
            let times = (before_ns, run.first_ns);
            self.requests
                .take(from, to, times, false, &mut |part| filled.push(part))
        };
        let mut copied = Arrival::default();
        if in_order > first {
            copied = take(first, in_order - 1);
        }
        let arrival = take(in_order, last);
        if classification == Classification::Duplicate && in_order == first {
            copied = arrival;
        }
        let all = if in_order > first { copied.and(arrival) } else { arrival };
        let classification = if all.restarted {
            Classification::InOrder
        } else {
            classification
        };
        if all.restarted {
            self.counts.restarts += 1;
            self.settle_recovered(u64::MAX, context);
            self.restart();
        }
        // A READ or atomic is also repeated because its response did not arrive.
        let may_be_sign = all.filled == 0 && copied_until.is_none() && !is_answered;
        if let Some(delay_ns) = repeat.filter(|_| may_be_sign) {
            let twice = self.captured_twice.get_or_insert_with(CapturedTwice::new);
            if first < high {
                twice.repeated(last, delay_ns);
            } else if twice.last_repeated(delay_ns) {
                self.copies_are_certain();
            }
        }
        if let Some(twice) = &mut self.captured_twice
            && copied_until.is_none_or(|until| until < last)
        {
            // The time of the first packet after the copies is unknown, and may be long after them.
            let since_ns = if copied_until.is_some() {
                run.last_ns()
            } else {
                run.first_ns
            };
            twice.passed((in_order, last), (since_ns, run.last_ns()));
        }
        if let Some(gap) = &all.displaced {
            self.count_lost_gap(gap, true);
        }
        self.counts.request_packets += u64::from(run.packets);
        if self.start.is_none() || self.start_is_open && first < self.requests_start() {
            self.start = Some(first);
        }
        let classified = ClassifiedRun {
            classification,
            first: in_order,
            last,
            arrival: if classification == Classification::Duplicate && in_order == first {
                Arrival::default()
            } else {
                arrival
            },
            copied,
            read: is_read.then(|| all.repeated > 0 && self.outstanding.read_from(first)),
        };
        self.last_request_ns = run.last_ns();
        self.count_new(run, &all, is_read);
        if copied_until.is_some_and(|until| until >= last) && self.sprayed.is_none() {
            self.counts.repeated += u64::from(run.packets);
            self.counts.duplicate += u64::from(run.packets);
            self.outstanding.copied(first, last);
            return None;
        }
        let is_late = filled.iter().any(|gap| gap.holds(first));
        let is_rest = is_answered && all.repeated > 0 && self.outstanding.begins_before(first);
        let is_again = is_answered && all.repeated > 0 && !is_late;
        let question = is_again.then(|| {
            // A NAK makes the sender go back to the first unacknowledged request, whose answer may be on its way.
            let begun_ns = self.episode.as_ref().map_or(0, |episode| episode.begun_ns);
            let mut naks = self.naks.iter().flatten();
            let reaction_ns = self.requester_times().reaction_ns.unwrap_or(0);
            let is_here = |ns: u64| run.first_ns >= ns + reaction_ns - reaction_ns / 16;
            let nak = naks.find(|nak| !nak.used && nak.psn >= first && nak.time_ns > begun_ns && is_here(nak.time_ns));
            // The responder lacked the request itself.
            let is_nak = nak.is_some() || self.sprayed.as_ref().is_some_and(|sprayed| sprayed.is_requested(first));
            let is_replay = match classification {
                _ if is_nak => true,
                _ if is_rest => false,
                Classification::Duplicate | Classification::Reordered | Classification::Overtaken => true,
                Classification::Retransmitted(trigger) => matches!(trigger, Trigger::Nak | Trigger::Rnr),
                _ => self.sprayed.as_ref().is_none_or(|sprayed| sprayed.is_replayed(first)),
            };
            Question {
                first,
                last,
                names_missing: !is_replay,
                nak_ns: nak.map(|nak| nak.time_ns),
                continues,
                is_read,
                is_acknowledged: self.acked >= last,
                is_rest,
                may_be_copy: classification == Classification::Duplicate && !is_rest,
                sent_ns: self.outstanding.sent_ns(first),
            }
        });
        if is_uc {
            self.unacknowledged(&all, &filled, run.first_ns, context);
            self.count_messages(run, first, last, &all);
            return None;
        }
        if self.sprayed.is_some() {
            self.count_sprayed(run, (first, last), &all, &filled, context);
            return question;
        }
        if let Some(gap) = filled.first() {
            // An answer for packets after a gap may be for the packet that fills it.
            self.outstanding.mark_ambiguous(gap.first);
        }
        // A copy by a mirror shows nothing.
        let is_copied = self.captured_twice.as_ref().is_some_and(|twice| twice.is_certain());
        if all.repeated > 0 && !is_copied {
            self.refute_doubts((first, last), run.first_ns, context);
        }
        let before = self.counts.retransmitted;
        self.account(run, &classified, &filled, context);
        if let Some(twice) = self.captured_twice.as_mut().filter(|_| repeat.is_some()) {
            twice.supposed += self.counts.retransmitted - before;
        }
        if classification == Classification::Reordered {
            for gap in &filled {
                let late_ns = run.first_ns.since(gap.value.opened_ns);
                let high = self.requests.high();
                self.reordering.learn(
                    gap.packets(),
                    late_ns,
                    (self.counts.request_packets, high - gap.first),
                    run.first_ns,
                );
            }
            self.learn_spray(run.first_ns, context);
        }
        if classification == Classification::Duplicate {
            self.outstanding
                .copied(first, if in_order > first { in_order - 1 } else { last });
        } else if all.repeated + all.filled > 0 {
            self.outstanding.retransmitted(first, last, run.last_ns());
        }
        if self.start_is_open && all.below > 0 {
            self.responder.begin_below(first, last);
        }
        if let Some(lost) = self.responder.arrive(first, last) {
            self.undecided.suspect(lost, run.first_ns);
        }
        self.count_messages(run, first, last, &all);
        let times = (run.first_ns, run.last_ns());
        let is_overtaken = matches!(classification, Classification::Reordered | Classification::Overtaken);
        self.send_sequence.take((first, last), times, !is_overtaken);
        // Acknowledged packets were not lost, even if their gap shows late.
        self.settle_gaps(context.overlaps_capture_loss);
        question
    }

    /// The rest for a sprayed direction.
    fn count_sprayed(
        &mut self,
        run: &RunRecord,
        (first, last): (ExtendedPsn, ExtendedPsn),
        all: &Arrival,
        filled: &[Gap],
        context: &mut Context<'_>,
    ) {
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
            self.outstanding.retransmitted(first, last, run.last_ns());
        }
        let _ = self.responder.arrive(first, last);
        self.count_messages(run, first, last, all);
        if all.above > 0 {
            self.send_sequence
                .take((first, last), (run.first_ns, run.last_ns()), true);
        }
        self.settle_gaps(context.overlaps_capture_loss);
    }

    /// The last PSN up to which the run consists of copies by a mirror.
    fn copied_until(&mut self, run: &RunRecord, psns: (ExtendedPsn, ExtendedPsn)) -> Option<ExtendedPsn> {
        let high = self.requests.high();
        let twice = self.captured_twice.as_mut()?;
        let is_learnt = twice.look(psns, high);
        let before = |psn| self.send_sequence.time_of(psn);
        let copied_until = twice.copied_until((psns.0, psns.1.min(high)), run.first_ns, before);
        if twice.is_over() {
            self.captured_twice = None;
        }
        if is_learnt {
            self.copies_are_certain();
        }
        copied_until
    }

    /// What looked like a sender that went back were copies.
    fn copies_are_certain(&mut self) {
        self.undecided.clear();
        self.send_sequence.rewind(self.requests.high() + 1);
        (self.episode, self.pending_timeout, self.tries) = (None, None, 0);
        let supposed = self
            .captured_twice
            .as_mut()
            .map_or(0, |twice| core::mem::take(&mut twice.supposed));
        self.counts.retransmitted -= supposed;
        self.counts.duplicate += supposed;
    }

    /// How long ago the packets last passed, if the sender had sent others since, and no NAK asked for them.
    fn unasked_repeat(
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

    /// Its times as far as its responses show them.
    pub(crate) fn requester_times(&self) -> RequesterTimes {
        let rare = self.latencies.rare();
        RequesterTimes {
            response_ns: rare.and_then(|rare| rare.response.min()).unwrap_or(0),
            slowest_response_ns: rare.and_then(|rare| rare.response.max()).unwrap_or(0),
            reaction_ns: rare.and_then(|rare| rare.reaction.min()),
        }
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
        self.undecided.clear();
        self.sprayed = None;
        self.naks = [None; 2];
        self.episode = None;
        self.rnr = None;
        self.tries = 0;
        self.pending_timeout = None;
        self.retries_exhausted = false;
    }

    /// The last PSN of a READ: one for each packet of its response.
    fn read_end(&mut self, first: ExtendedPsn, dma_length: u32, mtu: u16) -> ExtendedPsn {
        let mtu = u32::from(mtu.max(self.mtu));
        if mtu == 0 {
            self.open_read = Some((first, dma_length));
            return first;
        }
        let zero = Psn::new(0);
        first + u64::from(psn_after_read(zero, dma_length, mtu).distance_from(zero)) - 1
    }

    /// A response shows the MTU, and so the PSNs of a READ that passed before.
    pub(crate) fn finish_read(&mut self, mtu: u16) {
        if self.open_read.is_some() && mtu.max(self.mtu) != 0 {
            self.guess_read(0, mtu);
        }
    }

    /// If the MTU is unknown, the PSN after a READ determines it; then the READ's PSNs are known not to be a gap.
    fn guess_read(&mut self, next: ExtendedPsn, mtu: u16) {
        let Some((read, dma_length)) = self.open_read else {
            return;
        };
        let known = u32::from(mtu.max(self.mtu));
        let distance = next.saturating_sub(read);
        let end = |mtu: u32| u64::from(dma_length.div_ceil(mtu).max(1));
        if known != 0 {
            self.open_read = None;
            self.reserve(read + end(known) - 1);
        } else if next > self.requests.high()
            && let Some(mtu) = MTUS.into_iter().find(|mtu| end(*mtu) == distance)
        {
            self.open_read = None;
            // Several MTUs may fit; a response will determine it.
            self.reserve(next - 1);
            if distance > 1 && self.answered_ns == 0 && self.counts.reads >= UNANSWERED {
                self.mtu = mtu as u16;
            }
        }
    }

    /// CM has the first PSN.
    pub(crate) fn expect(&mut self, psn: Psn) {
        self.requests.expect(psn);
        self.start_is_open = false;
        self.start = Some(self.requests.low());
        self.send_sequence.reserve(self.requests.high());
        self.responder.reserve(self.requests.high());
    }

    /// PSNs up to `last` are those of responses.
    fn reserve(&mut self, last: ExtendedPsn) {
        let from = self.requests.high();
        self.outstanding.extend(from, last);
        self.requests.reserve(last);
        self.send_sequence.reserve(last);
        self.responder.reserve(last);
    }

    /// Payload and messages that had not passed before.
    pub(crate) fn count_new(&mut self, run: &RunRecord, arrival: &Arrival, is_read: bool) {
        let (unique_bytes, unique_messages) = unique(run, arrival);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.reads += u64::from(is_read);
        counts.atomics += match run.opcode().operation() {
            Operation::CompareSwap | Operation::FetchAdd | Operation::AtomicWrite => u64::from(run.only),
            _ => 0,
        };
    }

    /// Message sizes and outstanding requests, from the first and last packets of messages.
    pub(crate) fn count_messages(&mut self, run: &RunRecord, first: ExtendedPsn, last: ExtendedPsn, arrival: &Arrival) {
        let operation = run.opcode().operation();
        let answer = if is_answered(operation) {
            Answer::Response
        } else {
            Answer::Acknowledge
        };
        let begins = u64::from(run.first) + u64::from(run.only);
        let ends = u64::from(run.last) + u64::from(run.only);
        if begins > 0 {
            let one = run.packets == run.only || run.first > 0;
            let begun = if begins == 1 && one { first } else { last };
            // A message retransmitted from its start keeps its first start time.
            if begun != self.message_first || arrival.end_is_new && arrival.repeated == 0 {
                self.message_ns = run.first_ns + u64::from(run.message_offset_ns);
                self.message_first = begun;
            }
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        if ends == 0 {
            return;
        }
        if arrival.end_is_new && !matches!(answer, Answer::Response) {
            // The RETH has the length; several messages in one run share it.
            let bytes = match operation {
                Operation::RdmaWrite if begins > 0 && ends == 1 => u64::from(run.msn_or_dma_length),
                _ if ends == 1 => self.message_bytes,
                _ => run.payload_bytes() / ends,
            };
            self.count_size(bytes, ends);
        }
        let ends_here = matches!(run.opcode().position(), Position::Only) || run.last > 0 || run.only > 0;
        if arrival.end_is_new && ends_here {
            self.outstanding.push(OutstandingRequest {
                first: self.message_first.min(last),
                last,
                begun_ns: self.message_ns,
                sent_ns: run.last_ns(),
                answer,
                asked_from: first,
                is_late: false,
                completed: false,
                unambiguous: run.flags & RunRecord::EXACT_END != 0,
            });
        }
        self.message_bytes = 0;
    }
}

/// Whether a response acknowledges it.
pub(super) const fn is_answered(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::RdmaReadRequest | Operation::CompareSwap | Operation::FetchAdd
    )
}
