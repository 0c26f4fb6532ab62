//! The answers of the peer: acknowledgements, NAKs, responses.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::order::psn_tracker::{ExtendedPsn, Gap, PsnTracker};
use crate::connections::order::responder::NakMeaning;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::new_payload::{begins, unique};
use crate::connections::requests::outstanding::Answer;
use crate::connections::requests::recovery::{Episode, PendingNak, RnrEpisode, Trigger};
use crate::connections::responses::rounds::{Awaited, Passed};
use crate::connections::rows::event::EventDetail;
use crate::time::EventTime;
use alloc::boxed::Box;
use alloc::vec::Vec;
use rocescope_record::RunRecord;
use rocescope_wire::extension::{Acknowledgement, NakCode, rnr_timer_us};
use rocescope_wire::{Operation, Psn, Transport};

/// Retransmissions without an answer after which silence means that the sender gave up.
pub(crate) const TRIES: u32 = 2;

impl Direction {
    /// Counts acknowledgements that this direction carried.
    pub(crate) fn count_acknowledges(&mut self, run: &RunRecord) {
        if run.opcode().operation() == Operation::NegativeAcknowledge {
            self.count_nacks(run);
            return;
        }
        let packets = u64::from(run.packets);
        let counts = &mut self.counts;
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => {
                counts.acks += packets;
                self.acknowledges = Some(run.last_psn());
            }
            Acknowledgement::RnrNak { .. } => counts.rnr_nak += packets,
            Acknowledgement::Nak(NakCode::PsnSequenceError) => counts.nak_psn_sequence += packets,
            Acknowledgement::Nak(_) => counts.nak_fatal += packets,
            Acknowledgement::Reserved(_) => {}
        }
    }

    /// Whether no packet with this PSN or a later one has passed.
    pub(crate) fn has_not_sent(&self, psn: Psn) -> bool {
        self.requests.is_started() && self.requests.extended(psn) > self.requests.high()
    }

    /// The peer answered requests of this direction with an ACKNOWLEDGE. Returns how long it passed after what it caused,
    /// which only another clock explains.
    pub(crate) fn acknowledged(&mut self, run: &RunRecord, context: &mut Context<'_>) -> Option<u64> {
        if run.opcode().transport() == Transport::Mrc {
            self.marked_acknowledged(run, context);
            return None;
        }
        if !self.requests.is_started() {
            return None;
        }
        let mut late_ns = None;
        let psn = self.requests.extended(run.last_psn());
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => {
                let now_ns = run.last_ns();
                self.sprayed_acknowledged();
                self.complete(psn, now_ns);
                self.progress(psn, now_ns, context);
            }
            Acknowledgement::RnrNak { timer } => self.not_ready(run, psn, timer, context),
            Acknowledgement::Nak(NakCode::PsnSequenceError) => {
                late_ns = self.nak_received(run, psn, context);
            }
            Acknowledgement::Nak(_) => {
                self.progress(psn.saturating_sub(1), run.first_ns, context);
                let (psn, syndrome) = (run.last_psn(), run.syndrome);
                (context.emit)(run.first_ns, EventDetail::Fatal { psn, syndrome });
                self.close();
            }
            Acknowledgement::Reserved(_) => {}
        }
        self.start_is_open = false;
        late_ns
    }

    /// Completes the requests that an ACK for `psn` answers, and measures their latency.
    pub(crate) fn complete(&mut self, psn: ExtendedPsn, now_ns: u64) {
        let Self {
            outstanding,
            latencies,
            sprayed,
            ..
        } = self;
        outstanding.answered(psn, None, |request| {
            if request.answer == Answer::Acknowledge {
                let since = |ns| now_ns.since(ns);
                if request.last == psn && request.unambiguous {
                    let round_trip_ns = since(request.sent_ns);
                    if !request.is_late {
                        latencies.rtt.add_answered(round_trip_ns, request.is_repaired);
                    } else if let Some(sprayed) = sprayed {
                        sprayed.learn_round_trip(round_trip_ns);
                    }
                }
                latencies.completion.add(since(request.begun_ns));
            }
        });
    }

    /// The peer has received everything up to `psn`.
    fn progress(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        self.answer_timeouts(psn, now_ns, context.emit);
        self.settle_suspects(psn, now_ns, context);
        self.answered_ns = now_ns;
        self.responder.acknowledged(psn, self.send_sequence.next());
        if psn > self.acked {
            self.acked_before = core::mem::replace(&mut self.acked, psn);
            self.tries = 0;
            self.try_interval_ns = 0;
            self.resolved = self.counts.retransmitted;
            self.retries_exhausted = false;
        }
        // A receiver that keeps early packets needs no copy of them.
        if self.recoveries.scheme() == RetransmissionScheme::GoBackN {
            let mirror_loss = &mut *context.mirror_loss;
            let mirror_loses = mirror_loss.is_known();
            self.pending
                .arrived(psn, mirror_loses, |packets| mirror_loss.acknowledged(packets));
        }
        self.sprayed_progress(psn, now_ns, context);
        if let Some(rnr) = self.rnr.filter(|rnr| rnr.psn <= psn) {
            self.rnr = None;
            (context.emit)(rnr.begun_ns, EventDetail::Rnr(rnr));
        }
        self.settle_gaps(context);
    }

    /// A PSN sequence error NAK: the peer waits for that PSN. Returns how long it passed after what it caused.
    fn nak_received(&mut self, run: &RunRecord, psn: ExtendedPsn, context: &mut Context<'_>) -> Option<u64> {
        self.progress(psn.saturating_sub(1), run.first_ns, context);
        if self.start_is_open && psn < self.requests.low() {
            // The first packets of the direction were lost upstream of the tap.
            self.start = Some(psn);
            self.requests.begin_at(psn, run.first_ns);
        }
        self.suspect_requested(psn, run.first_ns, context);
        self.requests.nak(psn);
        if self.sprayed.is_some() {
            self.sprayed_ask(Trigger::Nak, psn, run.first_ns, context);
            return None;
        }
        let has_passed =
            self.requests.has(psn) && !self.pending.is_trimmed(psn) && self.pending.skipped_at(psn).is_none();
        if let Some(timeout) = self.pending_timeout.take_if(|timeout| timeout.psn == psn) {
            // The first copy was lost. The NAK proves that the retransmitted one was lost as well only if
            // that one had time to arrive.
            let times = u64::from(timeout.times);
            self.lose((psn, timeout.resent_ns), times, context.emit);
            let soon = run.first_ns.since(timeout.resent_ns);
            if self.latencies.min_rtt_ns().is_some_and(|rtt| soon < rtt) {
                self.responder.expect_resent(psn);
            }
        }
        if let Some(late_ns) = self.explains_pass(psn, run.first_ns, context) {
            return Some(late_ns);
        }
        // During a retransmission a NAK may still answer the previous send sequence, or a reordered
        // packet of it. It concerns this sequence only for packets that had time to arrive.
        let is_retransmission = psn <= self.send_sequence.resent_until() && psn < self.send_sequence.next();
        // A guess between the first and the last of a span may be too late by more than the packets are apart.
        let passed_ns = self.send_sequence.passed_after(psn).unwrap_or(0);
        let min_rtt_ns = self.latencies.min_rtt_ns().unwrap_or(0);
        let after_timeout = self.episode.as_ref().is_some_and(|e| e.trigger == Trigger::Timeout);
        if is_retransmission && !after_timeout && run.first_ns < passed_ns + min_rtt_ns {
            self.responder.expect_resent(psn);
        }
        let meaning = self.responder.nak(psn, has_passed.then_some(run.first_ns));
        // Retransmitted after a timeout, before this NAK asked for it: no later packet will prove that the
        // first copy was lost, so the NAK itself is the proof.
        if meaning == NakMeaning::Loss
            && is_retransmission
            && after_timeout
            && let Some(lost) = self.responder.take_lost()
        {
            self.lose(lost, 1, context.emit);
        }
        self.ask(Trigger::Nak, psn, run.first_ns);
        None
    }

    /// Whether the NAK explains why the sender went back to `psn`: it passed the tap after the retransmission, because
    /// answers are captured later than requests. Returns how much later: 0 if its timer explains the pass too.
    fn explains_pass(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) -> Option<u64> {
        let round_trip_ns = self.latencies.min_rtt_ns();
        let explained = |episode: &&mut Box<Episode>| {
            // The sender goes back a round trip and its own reaction after the packet.
            let soonest_ns = round_trip_ns.unwrap_or(episode.passed_before_ns / 2);
            matches!(episode.trigger, Trigger::Unseen | Trigger::Timeout)
                && episode.first == psn
                && now_ns < episode.begun_ns + soonest_ns
        };
        let episode = self.episode.as_mut().filter(explained)?;
        let late_ns = now_ns.since(episode.begun_ns);
        let is_timeout = episode.trigger == Trigger::Timeout
            && (episode.passed_before_ns == 0 || Self::a_timer_may_expire_within(episode.passed_before_ns));
        if core::mem::replace(&mut episode.trigger, Trigger::Nak) == Trigger::Timeout {
            self.counts.timeouts -= 1;
            self.tries = self.tries.saturating_sub(1);
            self.pending_timeout = None;
        }
        self.counts.nak_episodes += 1;
        if episode.is_repeat && self.responder.nak(psn, Some(now_ns)) == NakMeaning::Loss {
            let _ = self.responder.take_lost();
            self.lose((psn, now_ns), 1, context.emit);
        }
        let _ = self.responder.arrive(psn, self.send_sequence.next().max(psn + 1) - 1);
        self.ask(Trigger::Nak, psn, now_ns);
        self.consume_naks(psn);
        Some(if is_timeout { 0 } else { late_ns })
    }

    /// The peer requests `psn` again.
    const fn ask(&mut self, trigger: Trigger, psn: ExtendedPsn, time_ns: u64) {
        self.naks = [
            Some(PendingNak {
                trigger,
                psn,
                time_ns,
                used: false,
            }),
            self.naks[0],
        ];
    }

    /// The peer has no receive buffer for a message.
    fn not_ready(&mut self, run: &RunRecord, psn: ExtendedPsn, timer: u8, context: &mut Context<'_>) {
        self.progress(psn.saturating_sub(1), run.first_ns, context);
        match &mut self.rnr {
            Some(rnr) if rnr.psn == psn => {
                rnr.naks += 1;
                rnr.timer = timer;
            }
            other => {
                if let Some(rnr) = other.take() {
                    (context.emit)(rnr.begun_ns, EventDetail::Rnr(rnr));
                }
                *other = Some(RnrEpisode {
                    psn,
                    begun_ns: run.first_ns,
                    naks: 1,
                    timer,
                });
            }
        }
        self.responder.not_ready(psn);
        if self.sprayed.is_some() {
            self.sprayed_ask(Trigger::Rnr, psn, run.first_ns, context);
        } else {
            self.ask(Trigger::Rnr, psn, run.first_ns);
        }
    }

    /// PSNs between the last response and this run: the first, and their number.
    pub(crate) fn response_hole(&self, run: &RunRecord) -> Option<(Psn, u64)> {
        let (first, next) = (self.responses.extended(run.first_psn()), self.responses.high() + 1);
        (self.responses.is_started() && first > next).then(|| (Psn::new(next as u32), first - next))
    }

    /// This direction carried READ responses or an atomic acknowledgement.
    pub(crate) fn response(&mut self, run: &RunRecord, awaited: Awaited, context: &mut Context<'_>) {
        let first = self.responses.extended(run.first_psn());
        let last = first + u64::from(run.packets) - 1;
        let high = if self.responses.is_started() {
            self.responses.high()
        } else {
            first - 1
        };
        let is_begun = begins(run);
        // The PSNs of other operations are between two complete responses.
        let hole_is_silent = is_begun && self.response_is_whole && !awaited.hole;
        let mut filled: Vec<Gap> = Vec::new();
        let before_ns = Some(self.last_responses.last_ns)
            .filter(|ns| *ns > 0)
            .unwrap_or(run.first_ns);
        let times = (before_ns.min(run.first_ns), run.first_ns);
        let arrival = self
            .responses
            .take(first, last, times, hole_is_silent, &mut |part| filled.push(part));
        self.response_passed(
            run,
            (first, last),
            (&arrival, &filled),
            (high, hole_is_silent),
            awaited,
            context,
        );
        if last >= high {
            self.last_responses = Passed::of(run, (first, last));
        }
        let (unique_bytes, unique_messages) = unique(run, &arrival);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.repeated_responses += arrival.repeated;
        self.response_is_whole = u32::from(run.last) + u32::from(run.only) > 0;
        if run.opcode().operation() != Operation::RdmaReadResponse {
            return;
        }
        if is_begun {
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        let ends = u64::from(run.last) + u64::from(run.only);
        if ends > 0 && arrival.end_is_new {
            let bytes = if ends == 1 {
                self.message_bytes
            } else {
                run.payload_bytes() / ends
            };
            self.count_size(bytes, ends);
        }
    }

    /// The peer sent responses to requests of this direction; `responses` has those that did not pass.
    pub(crate) fn response_came(&mut self, run: &RunRecord, responses: &PsnTracker, context: &mut Context<'_>) {
        if !self.requests.is_started() {
            return;
        }
        let first = self.requests.extended(run.first_psn());
        let last = self.requests.extended(run.last_psn());
        if begins(run)
            && let Some(request) = self.outstanding.response_at(first)
            && request.unambiguous
        {
            request.unambiguous = false;
            let waited = run.first_ns.since(request.sent_ns);
            self.latencies.rare_mut().response.add(waited);
        }
        let ends = u32::from(run.last) + u32::from(run.only) > 0;
        let psn = if ends { last } else { first.saturating_sub(1) };
        let now_ns = run.last_ns();
        let Self {
            outstanding, latencies, ..
        } = self;
        // A response also acknowledges all requests before its own (IBTA volume 1, 9.7.5.1.2).
        outstanding.answered(psn, Some((first, responses)), |request| {
            latencies.completion.add(now_ns.since(request.begun_ns));
        });
        self.progress(last, now_ns, context);
        self.start_is_open = false;
    }

    /// It was taken down: only retransmissions from now on show that the sender waits for an answer.
    pub(crate) const fn close(&mut self) {
        self.closed = true;
        self.tries = 0;
    }

    /// Whether the sender gave up: it retransmitted several times, then was silent for two times its earlier waits. The
    /// kernel of a receiver that died takes the connection down by CM; a sender that then still retransmits expects an
    /// answer.
    pub(crate) fn check_retry_exhaustion(&mut self, now_ns: u64, context: &mut Context<'_>) {
        if self.retries_exhausted || !self.requests.is_started() {
            return;
        }
        let silence_ns = now_ns.since(self.last_request_ns);
        if let Some(rnr) = self.rnr {
            let wait_ns = u64::from(rnr_timer_us(rnr.timer)) * 1_000;
            if !self.closed && rnr.naks > TRIES && silence_ns > wait_ns.saturating_mul(2).max(1_000_000) {
                self.retries_exhausted = true;
                self.rnr = None;
                (context.emit)(rnr.begun_ns, EventDetail::Rnr(rnr));
                let detail = EventDetail::RetryExhausted {
                    psn: Psn::new(rnr.psn as u32),
                    tries: rnr.naks,
                    rnr: true,
                };
                (context.emit)(self.last_request_ns, detail);
            }
        } else if self.tries >= TRIES
            && !self.outstanding.is_empty()
            && silence_ns > self.try_interval_ns.saturating_mul(2)
        {
            self.retries_exhausted = true;
            let psn = self
                .episode
                .as_ref()
                .map_or(self.requests.high(), |episode| episode.first);
            let detail = EventDetail::RetryExhausted {
                psn: Psn::new(psn as u32),
                tries: self.tries,
                rnr: false,
            };
            (context.emit)(self.last_request_ns, detail);
        }
    }
}
