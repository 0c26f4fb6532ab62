//! What the other side answers: acknowledgements, refusals, responses.

use super::context::Surroundings;
use super::direction::Direction;
use super::episode::{Refusal, ResponsesAgain, RnrEpisode, Trigger};
use super::event::{Evidence, What, Where};
use super::new_payload::{begins, unique};
use super::receiver::Told;
use super::sequence::{Place, Ranges};
use super::waiting::Answer;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::extension::{Acknowledgement, NakCode, rnr_timer_us};
use rocescope_wire::{Operation, Psn};

/// Retransmissions without an answer from which silence means that the sender gave up.
const TRIES: u32 = 2;

impl Direction {
    /// Counts acknowledgements that this direction carried.
    pub(crate) fn count_acknowledges(&mut self, run: &RunRecord) {
        let packets = u64::from(run.packets);
        let counts = &mut self.counts;
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => counts.acks += packets,
            Acknowledgement::RnrNak { .. } => counts.rnr_nak += packets,
            Acknowledgement::Nak(NakCode::PsnSequenceError) => counts.nak_psn_sequence += packets,
            Acknowledgement::Nak(_) => counts.nak_fatal += packets,
            Acknowledgement::Reserved(_) => {}
        }
    }

    /// The peer answered requests of this direction with an ACKNOWLEDGE.
    pub(crate) fn acknowledged(&mut self, run: &RunRecord, around: &mut Surroundings<'_>) {
        if !self.requests.is_started() {
            return;
        }
        let place = self.requests.place(run.last_psn());
        match run.syndrome().meaning() {
            Acknowledgement::Ack { .. } => {
                let now_ns = run.last_ns();
                self.complete(place, now_ns);
                self.progress(place, now_ns, around);
            }
            Acknowledgement::RnrNak { timer } => self.not_ready(run, place, timer, around),
            Acknowledgement::Nak(NakCode::PsnSequenceError) => self.refused(run, place, around),
            Acknowledgement::Nak(_) => {
                self.progress(place.saturating_sub(1), run.first_ns, around);
                let (psn, syndrome) = (run.last_psn(), run.syndrome);
                (around.tell)(run.first_ns, What::Fatal { psn, syndrome });
                self.closed = true;
            }
            Acknowledgement::Reserved(_) => {}
        }
        self.start_is_open = false;
    }

    /// The requests that an ACK for `place` answers: how long that took.
    pub(crate) fn complete(&mut self, place: Place, now_ns: u64) {
        let Self {
            waiting, latencies, ..
        } = self;
        waiting.answered(place, None, |request| {
            if request.answer == Answer::Acknowledge {
                let since = |ns| now_ns.saturating_sub(ns);
                if request.last == place && request.clear {
                    latencies.rtt.add(since(request.sent_ns));
                }
                latencies.completion.add(since(request.begun_ns));
            }
        });
    }

    /// The peer has all up to `place`.
    fn progress(&mut self, place: Place, now_ns: u64, around: &mut Surroundings<'_>) {
        self.settle_doubt(Some((place, now_ns)), around.tell);
        self.answered_ns = now_ns;
        self.receiver.acknowledged(place, self.pass.next());
        if place > self.acked {
            self.acked = place;
            self.tries = 0;
            self.try_interval_ns = 0;
            self.gave_up = false;
        }
        if let Some(rnr) = self.rnr.filter(|rnr| rnr.place <= place) {
            self.rnr = None;
            (around.tell)(rnr.begun_ns, What::Rnr(rnr));
        }
        self.settle(around.is_blind);
    }

    /// A NAK for a PSN out of sequence: the peer waits for it.
    fn refused(&mut self, run: &RunRecord, place: Place, around: &mut Surroundings<'_>) {
        self.progress(place.saturating_sub(1), run.first_ns, around);
        if self.start_is_open && place < self.requests.low() {
            // What began the direction was lost before the tap.
            self.start = Some(place);
            self.requests.begin_at(place, run.first_ns);
        }
        self.requests.refuse(place);
        let has_passed = self.requests.has(place);
        if let Some(doubt) = self.doubt.take_if(|doubt| doubt.place == place) {
            // What was sent first is lost; of what was sent again the NAK tells only if it had the
            // time to arrive.
            let times = u64::from(doubt.times);
            self.lose((place, doubt.resent_ns), times, around.tell);
            let soon = run.first_ns.saturating_sub(doubt.resent_ns);
            if self.latencies.min_rtt_ns().is_some_and(|rtt| soon < rtt) {
                self.receiver.forgive(place);
            }
        }
        // In a pass that goes through old packets again, a NAK may still be for the pass before, or
        // for one that was overtaken by it: it tells of this one only what had the time to arrive.
        let is_again = place <= self.pass.again_until() && place < self.pass.next();
        let passed_ns = self.pass.time_of(place).unwrap_or(0);
        let min_rtt_ns = self.latencies.min_rtt_ns().unwrap_or(0);
        let of_its_own = self
            .episode
            .as_ref()
            .is_some_and(|e| e.trigger == Trigger::Timeout);
        if is_again && !of_its_own && run.first_ns < passed_ns + min_rtt_ns {
            self.receiver.forgive(place);
        }
        let told = self
            .receiver
            .refuse(place, has_passed.then_some(run.first_ns));
        // What was sent again of its own before it was asked for needs no third time to arrive: no
        // proof will come that the first time was a loss, but for this NAK.
        if told == Told::Lost
            && is_again
            && of_its_own
            && let Some(lost) = self.receiver.take_lost()
        {
            self.lose(lost, 1, around.tell);
        }
        self.ask(Trigger::Nak, place, run.first_ns);
    }

    /// The peer asks for `place` once more.
    const fn ask(&mut self, trigger: Trigger, place: Place, time_ns: u64) {
        self.refusals = [
            Some(Refusal {
                trigger,
                place,
                time_ns,
                used: false,
            }),
            self.refusals[0],
        ];
    }

    /// The peer has no receive buffer for a message.
    fn not_ready(
        &mut self,
        run: &RunRecord,
        place: Place,
        timer: u8,
        around: &mut Surroundings<'_>,
    ) {
        self.progress(place.saturating_sub(1), run.first_ns, around);
        match &mut self.rnr {
            Some(rnr) if rnr.place == place => {
                rnr.naks += 1;
                rnr.timer = timer;
            }
            other => {
                if let Some(rnr) = other.take() {
                    (around.tell)(rnr.begun_ns, What::Rnr(rnr));
                }
                *other = Some(RnrEpisode {
                    place,
                    begun_ns: run.first_ns,
                    naks: 1,
                    timer,
                });
            }
        }
        self.receiver.not_ready(place);
        self.ask(Trigger::Rnr, place, run.first_ns);
    }

    /// The PSN that continues the responses: behind the highest, or what was asked for again.
    fn response_next(&self) -> Place {
        let again = self.responses_again.as_ref();
        again.map_or(self.responses.high() + 1, |again| again.next)
    }

    /// PSNs between the last response and this run: their first, and how many.
    pub(crate) fn response_hole(&self, run: &RunRecord) -> Option<(Psn, u64)> {
        let (first, next) = (self.responses.place(run.first_psn()), self.response_next());
        (self.responses.is_started() && first > next).then(|| (Psn::new(next as u32), first - next))
    }

    /// This direction carried READ responses or an atomic acknowledgement; `is_awaited` tells
    /// whether a READ of the peer waits for what lies between the last one and this.
    pub(crate) fn response(
        &mut self,
        run: &RunRecord,
        is_awaited: bool,
        around: &mut Surroundings<'_>,
    ) {
        let first = self.responses.place(run.first_psn());
        let last = first + u64::from(run.packets) - 1;
        let is_begun = begins(run);
        // Between two whole responses lie the PSNs of other operations.
        let hole_is_silent = is_begun && self.response_is_whole && !is_awaited;
        let mut filled = Ranges::default();
        let times = (run.first_ns, run.first_ns);
        let mut note = |first, last| filled.note(first, last);
        let shown = self
            .responses
            .take(first, last, times, hole_is_silent, &mut note);
        let was_asked_for = self
            .responses_again
            .as_ref()
            .is_some_and(|again| first <= again.until);
        if let Some(again) = &mut self.responses_again {
            let (from, to) = (again.next, again.until.min(first.saturating_sub(1)));
            if from <= to && !hole_is_silent {
                // The lowest is what is asked for next.
                again.left_out.get_or_insert((from, to));
                self.counts.lost_before_tap += to - from + 1;
                let what = What::Loss {
                    psn: Psn::new(from as u32),
                    packets: to - from + 1,
                    place: Where::BeforeTap,
                    evidence: Evidence::LeftOut,
                };
                (around.tell)(run.first_ns, what);
            }
            again.next = again.next.max(last + 1);
            if again.next > again.until + 1 && again.left_out.is_none() {
                self.responses_again = None;
            }
        }
        if was_asked_for {
            self.counts.retransmitted += shown.filled + shown.repeated;
            self.counts.lost_before_tap += shown.filled;
            for (first, last) in filled.ranges() {
                let what = What::Loss {
                    psn: Psn::new(*first as u32),
                    packets: last - first + 1,
                    place: Where::BeforeTap,
                    evidence: Evidence::Gap,
                };
                (around.tell)(run.first_ns, what);
            }
        } else {
            self.counts.out_of_order += shown.filled;
            self.counts.retransmitted += shown.repeated;
        }
        let (unique_bytes, unique_messages) = unique(run, &shown);
        let counts = &mut self.counts;
        counts.messages += run.messages();
        counts.unique_messages += unique_messages;
        counts.unique_payload_bytes += unique_bytes;
        counts.repeated_responses += shown.repeated;
        self.response_is_whole = u32::from(run.last) + u32::from(run.only) > 0;
        if run.opcode().operation() != Operation::RdmaReadResponse {
            return;
        }
        if is_begun {
            self.message_bytes = 0;
        }
        self.message_bytes += run.payload_bytes();
        let ends = u64::from(run.last) + u64::from(run.only);
        if ends > 0 && shown.end_is_new {
            let bytes = if ends == 1 {
                self.message_bytes
            } else {
                run.payload_bytes() / ends
            };
            self.count_size(bytes, ends);
        }
    }

    /// The peer asks again for the responses from `psn` on, for `trigger`, after `waited_ns` without a
    /// packet of this direction.
    pub(crate) fn response_asked_again(
        &mut self,
        psn: Psn,
        trigger: Trigger,
        longest_ns: u64,
        now_ns: u64,
        around: &mut Surroundings<'_>,
    ) {
        let place = self.responses.place(psn);
        let left_out = self
            .responses_again
            .as_ref()
            .and_then(|again| again.left_out);
        let left_out = left_out.is_some_and(|(first, last)| (first..=last).contains(&place));
        self.responses_again = Some(Box::new(ResponsesAgain {
            next: place,
            until: self.responses.high(),
            left_out: None,
        }));
        let waited_ns = now_ns.saturating_sub(self.last_ns);
        let is_sure = trigger == Trigger::Response || waited_ns > 2 * longest_ns;
        if self.responses.has(place) && !left_out && is_sure {
            self.counts.lost_after_tap += 1;
            let what = What::Loss {
                psn,
                packets: 1,
                place: Where::AfterTap,
                evidence: Evidence::Response,
            };
            (around.tell)(now_ns, what);
        }
    }

    /// The peer sent responses to requests of this direction; `missing` of those before them did not
    /// pass.
    pub(crate) fn response_came(
        &mut self,
        run: &RunRecord,
        missing: &Ranges,
        around: &mut Surroundings<'_>,
    ) {
        if !self.requests.is_started() {
            return;
        }
        let first = self.requests.place(run.first_psn());
        let last = self.requests.place(run.last_psn());
        if begins(run)
            && let Some(request) = self.waiting.response_at(first)
            && request.clear
        {
            request.clear = false;
            let waited = run.first_ns.saturating_sub(request.sent_ns);
            self.latencies.others().response.add(waited);
        }
        let ends = u32::from(run.last) + u32::from(run.only) > 0;
        let place = if ends { last } else { first.saturating_sub(1) };
        let now_ns = run.last_ns();
        let Self {
            waiting, latencies, ..
        } = self;
        // A response acknowledges all requests before its own as well (IBTA volume 1, 9.7.5.1.2).
        waiting.answered(place, Some((first, missing)), |request| {
            latencies
                .completion
                .add(now_ns.saturating_sub(request.begun_ns));
        });
        self.progress(last, now_ns, around);
        self.start_is_open = false;
    }

    /// Whether the sender gave up what it was sending: it went back for it again and again, and
    /// then fell silent for twice as long as it had waited each time.
    pub(crate) fn look_for_exhaustion(&mut self, now_ns: u64, around: &mut Surroundings<'_>) {
        if self.gave_up || self.closed || !self.requests.is_started() {
            return;
        }
        let silence_ns = now_ns.saturating_sub(self.last_request_ns);
        if let Some(rnr) = self.rnr {
            let wait_ns = u64::from(rnr_timer_us(rnr.timer)) * 1_000;
            if rnr.naks > TRIES && silence_ns > wait_ns.saturating_mul(2).max(1_000_000) {
                self.gave_up = true;
                self.rnr = None;
                (around.tell)(rnr.begun_ns, What::Rnr(rnr));
                let what = What::RetryExhausted {
                    psn: Psn::new(rnr.place as u32),
                    tries: rnr.naks,
                    rnr: true,
                };
                (around.tell)(self.last_request_ns, what);
            }
        } else if self.tries >= TRIES
            && !self.waiting.is_empty()
            && silence_ns > self.try_interval_ns.saturating_mul(2)
        {
            self.gave_up = true;
            let psn = self
                .episode
                .as_ref()
                .map_or(self.requests.high(), |episode| episode.first);
            let what = What::RetryExhausted {
                psn: Psn::new(psn as u32),
                tries: self.tries,
                rnr: false,
            };
            (around.tell)(self.last_request_ns, what);
        }
    }
}
